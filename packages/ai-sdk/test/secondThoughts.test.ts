import { defineAgent } from '../../../src/index.ts'
import { calls, quiet, tool, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { scriptedModel } from '../../../src/testing.ts'
import type { Opened } from '../src/openChat.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'

import { readChatInput } from '../src/readChat.ts'
import { heldReply, said } from './chatHarness.ts'
import { chatsOf } from './chatsAlone.ts'

const look = tool('look', () => 'seen')
const limited = { tools: [look], limits: { turns: 1 } }
const answer = (parts: readonly object[] = []) => ({ id: 'a1', role: 'assistant', parts })
const input = (more: object) => readChatInput({ id: 'chat', messages: [said('m1', 'go')], ...more })

const agentOf = (opened: Opened): DrivenAgent => {
  assert.ok('thread' in opened)
  return opened.thread.agent
}

async function settled(agent: Pick<DrivenAgent, 'state'>): Promise<void> {
  while (!['idle', 'paused', 'stopped'].includes(agent.state)) await quiet()
}

describe('a chat whose run is paused at a limit', (it) => {
  const paused = async (context: Parameters<typeof chatsOf>[0], more: Parameters<typeof chatsOf>[3] = {}) => {
    const all = await chatsOf(context, [calls('c', 'look'), 'one', 'two'], {}, { options: limited, ...more })
    const agent = agentOf(await all.chats.open(all.access, input({})))
    await settled(agent)
    assert.is(agent.pause?.type, 'limit')
    return { ...all, agent }
  }

  it('goes on when it is resumed, in the same exchange, and only then', async (context) => {
    const { chats, access, agent, model } = await paused(context)
    const messages = [said('m1', 'go'), answer()]
    await assert.rejects(chats.open(access, input({ messages })), withCode('CALL_NOT_PENDING'))
    assert.is(agent.state, 'paused')
    const opened = await chats.open(access, input({ messages, resume: true }))
    assert.is('thread' in opened && opened.requestId, 'm1')
    await settled(agent)
    assert.equal([agent.state, model.requests.length], ['idle', 2])
    // Nothing is paused any more.
    await assert.rejects(chats.open(access, input({ messages, resume: true })), withCode('CALL_NOT_PENDING'))
  })

  it('is given up by what is said next, which is answered', async (context) => {
    const { chats, access, agent, model } = await paused(context)
    const opened = await chats.open(access, input({ messages: [said('m1', 'go'), answer(), said('m2', 'never mind')] }))
    assert.is('thread' in opened && opened.requestId, 'm2')
    await settled(agent)
    assert.equal([agent.state, agent.pause, model.requests.length], ['idle', null, 2])
    assert.ok(JSON.stringify(model.requests.at(-1)).includes('never mind'))
  })

  it('is not resumed by who may not, nor abandoned by that', async (context) => {
    const tokens = {
      'a-token-that-may-do-all': 'admin',
      'a-token-that-only-talks': { may: ['see.messages', 'talk'] },
    } as const
    const { chats, agent, accessFor } = await paused(context, { options: limited, tokens })
    const talker = await accessFor('a-token-that-only-talks')
    const messages = [said('m1', 'go'), answer()]
    await assert.rejects(chats.open(talker, input({ messages, resume: true })), withCode('BRIDGE_FORBIDDEN'))
    assert.is(agent.state, 'paused')
  })

  it('may be asked for another answer, which does not wait for the pause', async (context) => {
    const { chats, access, agent, model } = await paused(context)
    const opened = await chats.open(access, input({ trigger: 'regenerate-message' }))
    assert.is('thread' in opened && opened.requestId, 'regenerate:1:m1')
    await settled(agent)
    assert.equal([agent.state, model.requests.length], ['idle', 2])
  })
})

describe('another answer', (it) => {
  it('is given only to the newest message, once its answer has ended', async (context) => {
    const held = heldReply('half ', 'half an answer')
    const { chats, access, model } = await chatsOf(context, ['one', held, 'again'])
    await assert.rejects(chats.open(access, input({ trigger: 'regenerate-message' })), withCode('INVALID_OPTION'))
    const agent = agentOf(await chats.open(access, input({})))
    await settled(agent)
    await chats.open(access, input({ messages: [said('m1', 'go'), answer(), said('m2', 'more')] }))
    const regenerate = (id: string): Promise<Opened> =>
      chats.open(access, input({ trigger: 'regenerate-message', messages: [said(id, 'x')] }))
    await assert.rejects(regenerate('m2'), withCode('INVALID_OPTION', 'still under way'))
    held.release()
    await settled(agent)
    await assert.rejects(regenerate('m1'), withCode('INVALID_OPTION', 'newest'))
    assert.is(model.requests.length, 2)
    await regenerate('m2')
    await settled(agent)
    assert.is(model.requests.length, 3)
    // The answer before is no longer before the model, what it answers is.
    const last = JSON.stringify(model.requests.at(-1))
    assert.equal([last.includes('half an answer'), last.includes('more')], [false, true])
  })
})

describe('what is said', (it) => {
  it('comes with what was said before it and is not known yet, in its order, and nothing twice', async (context) => {
    const { chats, access, model } = await chatsOf(context, ['one', 'two'])
    const agent = agentOf(await chats.open(access, input({ messages: [said('m1', 'first'), said('m2', 'second')] })))
    await settled(agent)
    const messages = [said('m2', 'second'), said('m3', 'third'), said('m4', 'fourth')]
    await chats.open(access, input({ messages }))
    await settled(agent)
    const texts = model.requests.at(-1)!.messages.flatMap((one) => (one.role === 'user' ? [textOf(one.content)] : []))
    const at = ['first', 'second', 'third', 'fourth'].map((word) => texts.findIndex((text) => text.includes(word)))
    assert.ok(
      at.every((place, index) => place >= 0 && place >= (at[index - 1] ?? 0)),
      JSON.stringify(texts),
    )
    assert.is(texts.join(' ').split('second').length, 2)
  })

  it('waits in the queue when it is sent again, and is shown as what it becomes', async (context) => {
    const held = heldReply('half ', 'half an answer')
    const { chats, access, model } = await chatsOf(context, [held, 'two'])
    const agent = agentOf(await chats.open(access, input({})))
    const more = input({ messages: [said('m1', 'go'), said('m2', 'more')] })
    await chats.open(access, more)
    const again = await chats.open(access, more)
    assert.is('thread' in again && again.requestId, 'm2')
    held.release()
    await settled(agent)
    while (model.requests.length < 2) await quiet()
    await settled(agent)
    // Of one that was said before the newest, what came of it then.
    const past = await chats.open(access, input({}))
    assert.is('past' in past ? past.past.requestId : past.requestId, 'm1')
    assert.is(model.requests.length, 2)
  })

  it('has an id that can be that of a message', async (context) => {
    const { chats, access, runtime } = await chatsOf(context, ['one'])
    await assert.rejects(chats.open(access, input({ messages: [said('', 'go')] })), withCode('INVALID_OPTION'))
    assert.is(runtime.agent('chat')?.conversation.log().length ?? 0, 0)
  })
})

describe('chats that are opened', (it) => {
  it('are no sub-agents', async (context) => {
    const kid = defineAgent({ name: 'kid', description: 'helps', model: scriptedModel([]) })
    const { chats, access, runtime, definition } = await chatsOf(context, [], {}, { options: { agents: [kid] } })
    const root = await runtime.spawn(definition, { id: 'root' })
    const child = await root.spawn(kid, {})
    await assert.rejects(chats.open(access, input({ id: child.id })), withCode('INVALID_OPTION', 'sub-agent'))
    assert.is(child.state, 'idle')
  })
})
