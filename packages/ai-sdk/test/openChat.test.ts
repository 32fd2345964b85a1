import { readChatInput } from '../src/readChat.ts'
import { messageIdOf } from '../src/ids.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { quiet, withCode } from '../../../test/support/agentHarness.ts'
import { simulatedClock } from '../../../src/testing.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { heldReply, said } from './chatHarness.ts'
import { chatsOf } from './chatsAlone.ts'

const input = (id: string) => readChatInput({ id: 'chat', messages: [said(id, 'go')] })

describe('requests of one chat', (it) => {
  it('are opened one after the other: what stops comes after what began', async (context) => {
    const { chats, access, runtime } = await chatsOf(context, [heldReply('half ', 'half an answer')])
    const opening = chats.open(access, input('m1'))
    const stopping = chats.stop(access, 'chat')
    const opened = await opening
    await stopping
    assert.ok('thread' in opened)
    assert.is(opened.thread.exchange?.end?.stopReason, 'aborted')
    opened.thread.release()
    assert.is(runtime.agent('chat')?.state, 'idle')
  })

  it('say the same message once', async (context) => {
    const { chats, access, model } = await chatsOf(context, ['one', 'two'])
    const opened = await Promise.all(['m1', 'm1', 'm1'].map((id) => chats.open(access, input(id))))
    assert.equal(
      opened.map((one) => ('thread' in one ? one.requestId : one.past.requestId)),
      ['m1', 'm1', 'm1'],
    )
    await new Promise<void>((resolve) => {
      const [one] = opened
      if (one === undefined || !('thread' in one)) return resolve()
      one.thread.agent.subscribe((event) => {
        if (event.type === 'run.end') resolve()
      })
      if (one.thread.exchange?.end !== undefined) resolve()
    })
    assert.is(model.requests.length, 1)
  })

  it('that fails keeps no other from being opened', async (context) => {
    const { chats, access } = await chatsOf(context, ['one'])
    const failing = chats.open(
      access,
      readChatInput({ id: 'chat', messages: [{ id: 'a', role: 'assistant', parts: [] }] }),
    )
    const fine = chats.open(access, input('m1'))
    await assert.rejects(failing, /waits any more/)
    assert.ok('thread' in (await fine))
  })

  it('hold their agent only for as long as somebody is shown it, also those that are refused', async (context) => {
    const clock = simulatedClock()
    const { chats, access, store } = await chatsOf(context, ['one'], { clock, idleUnloadMs: 1_000 })
    const opened = await chats.open(access, input('m1'))
    assert.ok('thread' in opened)
    const { agent } = opened.thread
    while (agent.state !== 'idle') await quiet()
    const refused = readChatInput({ id: 'chat', messages: [{ id: 'a', role: 'assistant', parts: [] }] })
    await assert.rejects(chats.open(access, refused))
    await chats.stop(access, 'chat')
    await clock.advance(31_000)
    assert.is(await chats.resume(access, 'chat'), undefined, 'it ended long ago')
    const unloads = async (): Promise<boolean> => {
      await clock.advance(2_000)
      await quiet()
      return (await store.holder!('chat')) === undefined
    }
    assert.is(await unloads(), false)
    opened.thread.release()
    assert.is(await unloads(), true)
  })
})

describe('a chat whose client is no longer let in while it is opened', (it) => {
  const token = 'a-token-of-some-length'
  const chatIn = async (context: CaseContext) => {
    const tokens: Record<string, 'admin'> = { [token]: 'admin' }
    const chat = await chatsOf(context, ['one', 'two', 'three'], {}, { tokens })
    const opened = await chat.chats.open(chat.access, input('m1'))
    assert.ok('thread' in opened)
    const { thread } = opened
    while (thread.exchange?.end === undefined) await quiet()
    thread.release()
    const before = thread.agent.lastSeq
    const withdraw = (): void => void delete tokens[token]
    return { ...chat, thread, withdraw, isUntouched: () => thread.agent.lastSeq === before }
  }

  it('answers nothing again, once its log has been read', async (context) => {
    const { chats, access, thread, withdraw, isUntouched } = await chatIn(context)
    const records = access.records.bind(access)
    const read: AgentAccess['records'] = async function* (...given) {
      yield* records(...given)
      withdraw()
    }
    Object.assign(access, { records: read })
    const answer = { id: messageIdOf('m1'), role: 'assistant', parts: [] }
    const again = readChatInput({ id: 'chat', trigger: 'regenerate-message', messages: [said('m1', 'go'), answer] })
    await assert.rejects(chats.open(access, again), withCode('BRIDGE_UNAUTHORISED'))
    assert.is(isUntouched(), true)
    assert.is(thread.agent.state, 'idle')
  })

  it('says nothing, once it is known what is new', async (context) => {
    const { chats, access, withdraw, isUntouched } = await chatIn(context)
    const driven = access.driven.bind(access)
    const late: AgentAccess['driven'] = async (id) => {
      const agent = await driven(id)
      const wasAsked = async (requestId: string): Promise<boolean> => {
        withdraw()
        return await agent.wasAsked(requestId)
      }
      return new Proxy(agent, {
        get: (of, name) => (name === 'wasAsked' ? wasAsked : Reflect.get(of, name)) as unknown,
      })
    }
    Object.assign(access, { driven: late })
    await assert.rejects(chats.open(access, input('m2')), withCode('BRIDGE_UNAUTHORISED'))
    assert.is(isUntouched(), true)
  })
})
