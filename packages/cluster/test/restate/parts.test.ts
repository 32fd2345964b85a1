import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { connect as netConnect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { journalled, readCarried, requestBodyOf } from '../../src/restate/carried.ts'
import { Definitions } from '../../src/restate/definitions.ts'
import { refusalOf } from '../../src/restate/engineErrors.ts'
import { LogFollower, lastSeqIn } from '../../src/restate/logFollower.ts'
import { sessionsIn } from '../../src/restate/storeFrames.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { restateWorker } from '../../../../src/restate.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

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

describe('a worker that is closed', (it) => {
  it('takes nothing new, lets go of its agents, and then breaks off what others hold open', async ({ cleanup }) => {
    const happened: string[] = []
    const store = { ...memoryStore(), close: async () => void happened.push('let go') }
    const worker = await restateWorker({ definitions: [coder], store })
    const { url, port } = await worker.listen({ port: 0 })
    const session = connect(url)
    cleanup(() => session.destroy())
    session.on('error', () => {})
    session.once('goaway', () => happened.push('takes no more'))
    const ended = once(session, 'close').then(() => happened.push('broken off'))
    // Is under way for as long as it is not ended.
    const asked = session.request({ ':method': 'POST', ':path': '/health' })
    asked.on('error', () => {})
    asked.resume()
    await once(asked, 'response')
    // Says nothing, and keeps its end open, whatever the other one does.
    const silent = netConnect({ port, host: '127.0.0.1', allowHalfOpen: true })
    cleanup(() => silent.destroy())
    silent.on('error', () => {})
    silent.resume()
    await once(silent, 'connect')
    await worker.close()
    await ended
    assert.equal(happened.toSorted(), ['broken off', 'let go', 'takes no more'])
    assert.ok(happened.indexOf('let go') < happened.indexOf('broken off'), happened.join())
    await worker.close()
  })
})

describe('the log of a worker', (it) => {
  it('says that a log was taken from an agent at work, and nothing of one at rest, which moves', async ({
    cleanup,
  }) => {
    const store = memoryStore()
    const lines: { readonly agentId?: string; readonly code?: string }[] = []
    const none = (): void => {}
    const logger = { debug: none, info: none, warn: none, error: (fields: object) => void lines.push(fields) }
    const works = Promise.withResolvers<void>()
    const held = Promise.withResolvers<string>()
    const model = policyModel(() => {
      works.resolve()
      return held.promise
    })
    const keeper = defineAgent({ name: 'keeper', model })
    const worker = await restateWorker({ definitions: [keeper], store, logger })
    cleanup(() => worker.close())
    const [resting, working] = await Promise.all(
      ['resting', 'working'].map((id) => worker.runtime.spawn(keeper, { id })),
    )
    working!.prompt('Go.').result.catch(none)
    await works.promise
    await Promise.all([resting!.durable(), working!.durable()])
    const settled = working!.settled()
    for (const id of ['resting', 'working']) await store.open(id, { takeOver: true })
    assert.is((await settled).status, 'stopped')
    held.resolve('Done.')
    while (worker.runtime.agent('resting') !== undefined) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(
      lines.filter(({ code }) => code === 'STORE_LEASE_LOST').map(({ agentId }) => agentId),
      ['working'],
    )
  })
})
