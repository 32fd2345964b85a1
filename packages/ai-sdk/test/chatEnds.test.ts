import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { quiet } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { simulatedClock } from '../../../src/testing.ts'
import { defineAgent } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { readChatInput } from '../src/readChat.ts'
import { chatsOf } from './chatsAlone.ts'
import { heldReply, said, serveChats } from './chatHarness.ts'

const input = (id: string) => readChatInput({ id: 'chat', messages: [said(id, 'go')] })

describe('an answer of a chat', (it) => {
  /** Says something, and waits for the answer. */
  async function answered({ chats, access }: Awaited<ReturnType<typeof chatsOf>>, id: string) {
    const opened = await chats.open(access, input(id))
    assert.ok('thread' in opened)
    const { thread } = opened
    while (thread.exchange?.end === undefined) await quiet()
    thread.release()
    return thread
  }

  it('that is shown once more, from the log, holds no agent', async (context) => {
    const clock = simulatedClock()
    const chat = await chatsOf(context, ['one', 'two'], { clock, idleUnloadMs: 1_000 })
    await answered(chat, 'm1')
    await answered(chat, 'm2')
    assert.ok('past' in (await chat.chats.open(chat.access, input('m1'))))
    await clock.advance(2_000)
    await quiet()
    assert.is(await chat.store.holder!('chat'), undefined)
  })

  it('is resumed for thirty seconds after its end, and no longer', async (context) => {
    const clock = simulatedClock()
    const chat = await chatsOf(context, ['one'], { clock })
    await answered(chat, 'm1')
    for (const [ms, isThere] of [
      [0, true],
      [30_000, true],
      [1, false],
    ] as const) {
      await clock.advance(ms)
      const opened = await chat.chats.resume(chat.access, 'chat')
      assert.is(opened !== undefined, isThere, String(clock.now()))
      if (opened !== undefined && 'thread' in opened) opened.thread.release()
    }
  })

  it('is stopped where its agent works, and nowhere else', async (context) => {
    const { chats, access } = await chatsOf(context, [heldReply('half ', 'half an answer')])
    const opened = await chats.open(access, input('m1'))
    assert.ok('thread' in opened)
    const { thread } = opened
    const { works } = access
    const asked: string[] = []
    access.works = (id) => asked.push(id) === 0
    await chats.stop(access, 'chat')
    await quiet()
    assert.equal([asked, thread.exchange?.end], [['chat'], undefined])
    access.works = works
    await chats.stop(access, 'chat')
    while (thread.exchange?.end === undefined) await quiet()
    assert.is(thread.exchange.end.stopReason, 'aborted')
    thread.release()
  })
})

describe('requests of a chat', (it) => {
  it('wait for all before them, also where one of those was itself waiting', async (context) => {
    const { chats, access } = await chatsOf(context, ['one'])
    const { reading } = access
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
    let begun = 0
    const slow: AgentAccess['reading'] = async (id) => {
      await gates[begun++]!.promise
      return await reading.call(access, id)
    }
    Object.assign(access, { reading: slow })
    const first = chats.stop(access, 'chat')
    const second = chats.stop(access, 'chat')
    gates[0]!.resolve()
    await first
    await quiet()
    assert.is(begun, 2)
    const third = chats.stop(access, 'chat')
    await quiet()
    assert.is(begun, 2)
    for (const { resolve } of gates) resolve()
    await Promise.all([second, third])
    assert.is(begun, 3)
  })
})

describe('a server that closes', (it) => {
  it('breaks the answers of chats off, as a whole one would be taken for all there is', async (context: CaseContext) => {
    const definition = defineAgent({ name: 'a', model: scriptedModel([heldReply('half ', 'half an answer')]) })
    const { server } = await serveChats(context, [definition], { runtime: { clock: simulatedClock() } })
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat', messages: [said('m1', 'go')] }),
    })
    const text = answer.text().then(
      () => 'whole',
      () => 'broken off',
    )
    await server.close()
    assert.is(await text, 'broken off')
  })
})
