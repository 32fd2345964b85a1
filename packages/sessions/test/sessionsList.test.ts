import { recordVersion } from '../../../src/protocol/records.ts'
import { mkdir } from 'node:fs/promises'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { forkSession } from '../src/forkSession.ts'
import { listSessions } from '../src/listSessions.ts'
import { loadSession } from '../src/loadSession.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { LogBuilder } from '../../../test/conversation/logBuilder.ts'
import { startAgent } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { born, created, logOf, storeOf } from './sessionLogs.ts'
import { failsWith, linesOf, storeFolder } from '../../stores/test/storeFolder.ts'

const talk = (last: number): LogRecord[] => {
  const log = new LogBuilder()
  log.user('go')
  log.reply('gone')
  return born('a', log.records).map((record) => (record.seq === 3 ? { ...record, time: last } : record))
}

const named = (agentId: string, records: readonly LogRecord[]): LogRecord[] =>
  records.map((record) => (record.type === 'agent.created' ? { ...record, agentId } : record))

describe('listSessions', (it) => {
  it('gives the one written last first, with counts in place of runs', async (context) => {
    const { agent, store, clock } = await startAgent(context, { replies: ['one', 'two'] })
    await agent.prompt('first').result
    await agent.prompt('second').result
    await clock.advance(10)
    const runtime = await createRuntime({ store: { ...store, close: async () => {} }, clock })
    context.cleanup(() => runtime.close())
    await runtime.spawn(defineAgent({ name: 'other', model: scriptedModel([]) }), { id: 'b1' })
    await (async () => {
      while ((await store.list()).length < 2) await new Promise(setImmediate)
    })()
    const sessions = await listSessions(store)
    assert.equal(
      sessions.map(({ id, definition, runs, turns, status }) => [id, definition, runs, turns, status]),
      [
        ['b1', 'other', 0, 0, 'completed'],
        ['a1', 'tester', 2, 2, 'completed'],
      ],
    )
    assert.equal(sessions[1]?.usage, (await loadSession(store, 'a1')).usage)
  })

  it('names forks both ways, and children', async () => {
    const child = { ...created('kid'), path: ['root', 'a'] }
    const store = await storeOf({ a: talk(5), kid: [child] })
    for (const id of ['f2', 'f1']) await forkSession(store, 'a', 2, { id })
    const sessions = new Map((await listSessions(store)).map((session) => [session.id, session]))
    assert.equal(sessions.get('a')?.forks, ['f1', 'f2'])
    assert.equal(sessions.get('f1')?.forkedFrom, { agentId: 'a', seq: 3, at: 2 })
    assert.equal([sessions.get('f1')?.forks, sessions.get('f1')?.children], [[], []])
    assert.equal([sessions.get('a')?.children, sessions.get('kid')?.path], [['kid'], ['root', 'a']])
  })

  it('has an entry with the error for a log that cannot be read, and what could be read of it', async (context) => {
    const { store, write, file } = await storeFolder(context)
    const [first, second, third] = linesOf(talk(5)).split('\n')
    await write('whole.jsonl', linesOf(named('whole', talk(9))))
    await write('torn.jsonl', `${first}\n${second}\n${third?.slice(0, -9)}`)
    await write('bad.jsonl', `${first}\n${second?.replace('go', 'no')}\n${third}\n`)
    await write('newer.jsonl', `${first}\n${linesOf([{ ...talk(5)[1]!, v: recordVersion + 1 } as never])}`)
    await write('empty.jsonl', '')
    await mkdir(file('folder.jsonl'))
    const sessions = await listSessions(store())
    assert.equal(
      sessions
        .map(({ id, error, definition }) => [id, error?.code, definition])
        .toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
      [
        ['bad', 'LOG_CORRUPT', 'tester'],
        ['newer', 'LOG_VERSION', 'tester'],
        ['torn', undefined, 'tester'],
        ['whole', undefined, 'tester'],
      ],
    )
    assert.is(sessions[0]?.id, 'whole')
    assert.match(sessions.find(({ id }) => id === 'bad')?.error?.message ?? '', /Line 2 of .*bad\.jsonl/)
  })

  it('is empty for an empty store, and fails only when the store cannot be listed', async (context) => {
    const { dir } = await storeFolder(context)
    assert.equal(await listSessions(memoryStore()), [])
    const { page: _, ...plain } = memoryStore()
    const broken: Store = {
      ...plain,
      list: () => Promise.reject(new RuntimeError('STORE_READ_FAILED', `${dir} could not be listed.`)),
    }
    await assert.rejects(listSessions(broken), failsWith('STORE_READ_FAILED'))
  })

  it('passes over a log that was deleted meanwhile', async () => {
    const { page: _, ...store } = await storeOf({ a: talk(5) })
    assert.equal(
      (await listSessions({ ...store, list: async () => ['a', 'gone'] })).map(({ id }) => id),
      ['a'],
    )
  })
})

describe('loadSession', (it) => {
  it('gives the session, its records and its conversation, of an agent that runs, too', async (context) => {
    const { agent, store, records } = await startAgent(context, { replies: ['one'] })
    await agent.prompt('first').result
    const session = await loadSession(store, 'a1')
    assert.equal([session.id, session.runs.length, session.past], ['a1', 1, []])
    assert.equal(session.records, await records())
    assert.equal(session.conversation.trunk(), agent.conversation.trunk())
  })

  it('counts of a fork only its own part, and shows the past in the conversation', async () => {
    const store = await storeOf({ a: talk(5) })
    await forkSession(store, 'a', 2, { id: 'f', clock: { now: () => 77, after: () => () => {} } })
    const session = await loadSession(store, 'f')
    assert.equal([session.createdAt, session.runs, session.usage.output, session.isStopped], [77, [], 0, false])
    assert.equal([session.past, session.records.length], [talk(5), 1])
    assert.is(session.conversation.head, 2)
  })

  it('refuses what is no id, unknown, damaged or newer', async (context) => {
    const { store, write } = await storeFolder(context)
    const lines = linesOf(talk(5)).split('\n')
    await write('bad.jsonl', `${lines[0]}\n{}\n${lines[2]}\n`)
    await write(
      'headless.jsonl',
      linesOf(
        talk(5)
          .slice(1)
          .map((record) => ({ ...record, seq: record.seq - 1 })),
      ),
    )
    await write('newer.jsonl', linesOf([{ ...talk(5)[0]!, v: recordVersion + 1 } as never]))
    await write('empty.jsonl', '')
    const orphan = talk(5).map((record) => (record.type === 'reply.end' ? { ...record, parentId: null } : record))
    await write('unfolded.jsonl', linesOf(orphan))
    const opened = store()
    for (const id of ['../a', 'a/b', '', '.', 'a\0'])
      await assert.rejects(loadSession(opened, id), failsWith('INVALID_ID'))
    await assert.rejects(loadSession(opened, 'nobody'), failsWith('AGENT_NOT_FOUND', 'nobody'))
    await assert.rejects(loadSession(opened, 'empty'), failsWith('AGENT_NOT_FOUND', 'empty'))
    await assert.rejects(loadSession(opened, 'bad'), failsWith('LOG_CORRUPT', 'Line 2'))
    await assert.rejects(loadSession(opened, 'headless'), failsWith('LOG_CORRUPT', 'begins with message.added'))
    await assert.rejects(loadSession(opened, 'newer'), failsWith('LOG_VERSION'))
    await assert.rejects(loadSession(opened, 'unfolded'), failsWith('LOG_CORRUPT', 'Record 3'))
    assert.is((await logOf(opened, 'nobody')).length, 0)
  })
})
