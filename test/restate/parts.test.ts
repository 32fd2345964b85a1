import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../src/actors/defineAgent.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import { journalled, readCarried, requestBodyOf } from '../../src/restate/carried.ts'
import { Definitions } from '../../src/restate/definitions.ts'
import { refusalOf } from '../../src/restate/engineErrors.ts'
import { LogFollower, lastSeqIn } from '../../src/restate/logFollower.ts'
import { sessionsIn } from '../../src/restate/storeFrames.ts'
import { restateWorker } from '../../src/restate.ts'
import { fileStore } from '../../src/stores/fileStore.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { memoryStore } from '../../src/stores/memoryStore.ts'
import { scriptedModel } from '../../src/testing/scriptedModel.ts'
import { simulatedClock } from '../../src/testing/simulatedClock.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const coder = defineAgent({ name: 'coder', model: scriptedModel([]) })

describe('what an engine carries', (it) => {
  it('is read as it was written', () => {
    const body = { content: 'Go.', requestId: 'r1', definition: 'coder', metadata: { userId: 'u1' } }
    const carried = readCarried('a1', 'prompt', body, 'other')
    const { verb, ...rest } = requestBodyOf(carried)
    assert.equal([verb, carried.requestId], ['prompt', 'r1'])
    assert.equal(readCarried('a1', verb, rest, 'other'), carried)
    assert.is(readCarried('a1', 'abort', undefined, 'other').requestId, 'other')
  })

  it('is refused when it is no command', () => {
    const wrong = withCode('INVALID_OPTION')
    for (const body of [
      null,
      [],
      'Go.',
      { content: 'Go.', metadata: 7 },
      { content: 'Go.', requestId: '' },
      { content: 'Go.', more: 1 },
    ])
      assert.throws(() => readCarried('a1', 'prompt', body, 'r1'), wrong)
    assert.throws(() => readCarried('a1', 'fly', {}, 'r1'), wrong)
    assert.throws(() => readCarried('a1', 'wake', { now: true }, 'r1'), wrong)
    assert.throws(() => readCarried('../a1', 'abort', {}, 'r1'), withCode('INVALID_ID'))
    assert.throws(() => readCarried('a1', 'prompt', { content: '' }, 'r1'), withCode('INVALID_CONTENT'))
  })

  it('comes back cut to what a journal takes', () => {
    const callIds = Array.from({ length: 5_000 }, (_, index) => `call-${index}`)
    const error = { code: 'INTERNAL', message: 'x'.repeat(1_000_000) } as const
    const { length } = JSON.stringify(journalled({ status: 'waiting', seq: 1, callIds, error }))
    assert.ok(length < 30_000)
  })

  it('is tried again after what passes, and refused after what does not', () => {
    for (const code of [
      'STORE_LEASE_LOST',
      'STORE_LOCKED',
      'AGENT_DETACHED',
      'AGENT_ELSEWHERE',
      'STORE_APPEND_FAILED',
    ] as const)
      assert.is(refusalOf(new RuntimeError(code, 'So.')), undefined)
    assert.is(refusalOf(new Error('So.')), undefined)
    for (const code of ['INVALID_DEFINITION', 'AGENT_STOPPED', 'LOG_CORRUPT', 'QUEUE_FULL', 'DEPS_MISSING'] as const)
      assert.is(refusalOf(new RuntimeError(code, 'So.'))?.code, code)
  })
})

describe('the definitions of a worker', (it) => {
  it('are one or more, and of different names', async () => {
    const store = memoryStore()
    for (const definitions of [[], undefined, [coder, coder]])
      await assert.rejects(
        () => restateWorker({ definitions: definitions as never, store }),
        withCode('INVALID_OPTION'),
      )
    await assert.rejects(() => restateWorker({ definitions: [{}] as never, store }), withCode('INVALID_DEFINITION'))
    await assert.rejects(
      () => restateWorker({ definitions: [coder], store, name: 'my agent' }),
      withCode('INVALID_OPTION'),
    )
    await assert.rejects(() => restateWorker({ definitions: [coder] } as never), withCode('INVALID_OPTION'))
  })

  it('are found for agents below, and only the one that is in the log', () => {
    const team = defineAgent({ name: 'team', model: scriptedModel([]), agents: [coder] })
    const definitions = new Definitions([team])
    assert.is(definitions.of('a1', 'coder', undefined), coder)
    assert.is(definitions.of('a1', undefined, undefined), team)
    assert.throws(() => definitions.of('a1', 'coder', 'team'), /is of definition "coder", not "team"/)
  })

  it('have a fingerprint that tells what they say', () => {
    const other = defineAgent({ name: 'coder', model: scriptedModel([]), instructions: 'Be brief.' })
    const print = (definition: typeof coder): string => new Definitions([definition]).fingerprint('coder')
    assert.is(print(coder), print(defineAgent({ name: 'coder', model: scriptedModel([]) })))
    assert.is.not(print(coder), print(other))
  })
})

describe('a log that another process writes', (it) => {
  it('is followed record by record, from any of them on', async ({ cleanup }) => {
    const store = memoryStore()
    const clock = simulatedClock()
    const runtime = await createRuntime({ store, clock })
    cleanup(() => runtime.close())
    const chatty = defineAgent({ name: 'chatty', model: scriptedModel([{ text: 'One.' }, { text: 'Two.' }]) })
    assert.is(await lastSeqIn(store, 'a1'), 0)
    const agent = await runtime.spawn(chatty, { id: 'a1' })
    await agent.prompt('Go.').result
    await agent.durable()
    assert.is(await lastSeqIn(store, 'a1'), agent.lastSeq)
    const seqs: number[] = []
    const caughtUp: number[] = []
    const follower = new LogFollower({
      agentId: 'a1',
      store,
      clock,
      pollMs: 100,
      after: 2,
      onEvent: ({ seq }) => seqs.push(seq),
      onCaughtUp: (seq) => caughtUp.push(seq),
      onFailure: () => assert.unreachable(),
    })
    await follower.poke()
    assert.equal(
      seqs,
      Array.from({ length: agent.lastSeq - 2 }, (_, index) => index + 3),
    )
    await agent.prompt('Again.').result
    await agent.durable()
    await follower.poke()
    assert.is(seqs.at(-1), agent.lastSeq)
    assert.is(new Set(seqs).size, seqs.length)
    assert.is(caughtUp.length, 1)
    follower.close()
  })
})

describe('a list of sessions from the store of a client of an engine', (it) => {
  it('has logs that cannot be read, and names no files, as that of a server', async (context) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-listed-'))
    context.cleanup(() => rm(dir, { recursive: true, force: true }))
    await writeFile(join(dir, 'broken.jsonl'), '{"x":1}\n{"x":2}\n{"x":3}\n')
    const listed = await sessionsIn(
      { store: fileStore(dir), definitions: new Map() },
      { id: '1', type: 'session.list' },
    )
    const { sessions, total } = listed as {
      sessions: { agentId: string; error?: { code: string; message: string } }[]
      total: number
    }
    assert.is(total, 1)
    const { agentId, error } = sessions[0]!
    assert.equal([agentId, error?.code], ['broken', 'LOG_CORRUPT'])
    assert.match(error!.message, /^The log is damaged\./)
  })
})

describe('the health of a worker', (it) => {
  it('is that of its store too', async ({ cleanup }) => {
    const state = { holds: true }
    const store = { ...memoryStore(), holds: () => state.holds }
    const worker = await restateWorker({ definitions: [coder], store })
    cleanup(() => worker.close())
    const session = connect((await worker.listen({ port: 0 })).url)
    cleanup(() => session.destroy())
    const health = async (): Promise<number> => {
      const asked = session.request({ ':path': '/health' })
      const [headers] = (await once(asked, 'response')) as [IncomingHttpHeaders]
      asked.close()
      return Number(headers[':status'])
    }
    assert.is(await health(), 200)
    state.holds = false
    assert.is(await health(), 503)
  })
})
