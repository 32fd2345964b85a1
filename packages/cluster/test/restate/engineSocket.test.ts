import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { recordsBetween } from '../../../evaluation/src/testing/contractDemands.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import type { Outcome } from '../../src/restate/carried.ts'
import { EngineSocket } from '../../src/restate/engineSocket.ts'

interface Frame {
  readonly type: string
  readonly id?: string
  readonly code?: string
  readonly result?: object
}
interface Call {
  readonly agentId: string
  readonly verb: string
  readonly body: object
  readonly requestId: string
}

/** A client of an engine that answers so, by handler. */
async function connected(outcomes: { readonly [verb: string]: Partial<Outcome> | Promise<Partial<Outcome>> } = {}) {
  const [store, clock, known] = [memoryStore(), simulatedClock(), new Map<string, number>()]
  const lease = await store.open('a')
  await store.append('a', recordsBetween(1, 3), lease.epoch)
  const called: Call[] = []
  const ingress = {
    call: async (call: Call) => {
      called.push(call)
      return { status: 'done', seq: 1, ...(await outcomes[call.verb]) }
    },
  }
  const definitions = new Map(
    [{ name: 'plain' }, { name: 'told', description: 'Tells.' }].map((one) => [
      one.name,
      defineAgent({ ...one, model: scriptedModel([]) }),
    ]),
  )
  const parts = { store, clock, known, definitions, ingress, pollMs: 100, birthOf: () => ({ definition: 'plain' }) }
  const socket = new EngineSocket(parts as never)
  const frames: Frame[] = []
  let closed = 0
  socket.addEventListener('message', ({ data }: { readonly data: string }) => frames.push(JSON.parse(data) as Frame))
  socket.addEventListener('close', () => (closed += 1))
  const send = async (frame: object): Promise<void> => {
    socket.send(JSON.stringify(frame))
    await quiet()
  }
  await send({ type: 'hello', sessionId: 's'.repeat(22) })
  const ask = async (frame: object): Promise<readonly Frame[]> => {
    const before = frames.length
    await send({ id: 'c1', ...frame })
    return frames.slice(before)
  }
  const verbs = (): string[] => called.map(({ verb }) => verb)
  const add = (from: number, to: number) => store.append('a', recordsBetween(from, to), lease.epoch)
  return { socket, store, clock, known, called, verbs, frames, send, ask, add, closed: () => closed }
}

const refused = { status: 'refused', error: { code: 'CALL_NOT_PENDING', message: 'no' } } as const
const failed = { code: 'MODEL_FAILED', message: 'no' } as const
const answers = (frames: readonly Frame[]) =>
  frames.map(({ type, code, result }) => (type === 'ok' ? (result as { ended?: object }).ended : (code ?? type)))

describe('what stands in for a server before an engine', (it) => {
  it('welcomes its client with the definitions that say what they do, and answers pings', async () => {
    const { frames, ask } = await connected()
    const [welcome] = frames as [Frame & { readonly definitions: object; readonly descriptions: object }]
    assert.equal([welcome.definitions, welcome.descriptions], [['plain', 'told'], { told: 'Tells.' }])
    assert.equal(await ask({ type: 'ping' }), [{ type: 'pong' }])
  })

  // The outcome that the engine has for a run, and what its client is told beyond that it was taken.
  for (const [what, outcome, told] of [
    ['that ended', { stopReason: 'stop' }, [{ stopReason: 'stop' }]],
    ['that failed', { stopReason: 'error', error: failed }, [{ stopReason: 'error', error: failed }]],
    ['whose end is not known', {}, [{ stopReason: 'aborted' }]],
    ['that waits', { status: 'waiting' }, []],
    ['that is paused', { status: 'paused' }, []],
    ['that was refused', refused, ['CALL_NOT_PENDING']],
  ] as const)
    it(`tells its client of a run ${what}`, async () => {
      for (const type of ['agent.prompt', 'agent.interrupt']) {
        const { ask, verbs, called } = await connected({ prompt: outcome, carry: outcome })
        const [taken, ...more] = await ask({ type, agentId: 'a', content: 'go' })
        assert.equal([taken?.type, answers(more)], ['ok', told], type)
        assert.equal(verbs(), type === 'agent.prompt' ? ['prompt'] : ['interrupt', 'carry'])
        assert.equal(new Set(called.map(({ requestId }) => requestId)).size, 1)
      }
    })

  it('tells of everything in the log before it tells that a run has ended', async () => {
    const outcome = Promise.withResolvers<Partial<Outcome>>()
    const { ask, send, frames, add } = await connected({ prompt: outcome.promise })
    await ask({ type: 'agent.subscribe', agentId: 'a' })
    await send({ type: 'agent.prompt', id: 'c2', agentId: 'a', content: 'go' })
    await add(4, 5)
    const before = frames.length
    outcome.resolve({ stopReason: 'stop' })
    await quiet()
    assert.equal(
      frames.slice(before).map(({ type }) => type),
      ['event', 'event', 'ok'],
    )
  })

  it('answers a decision once it is carried out or in the log, a stop once it is carried out, and others at once', async () => {
    for (const [type, carried] of [
      ['agent.decide', true],
      ['agent.stop', true],
      ['agent.steer', false],
    ] as const) {
      const frame = { type, agentId: 'a', callId: 'k', decision: 'approve', content: 'x' }
      const fine = await connected()
      assert.equal(
        (await fine.ask(frame)).map((one) => one.type),
        ['ok'],
        type,
      )
      assert.equal([fine.verbs().length, fine.clock.pending], [carried ? 2 : 1, 0], type)
      const wrong = await connected({ carry: refused })
      assert.equal(answers(await wrong.ask(frame)), [carried ? 'CALL_NOT_PENDING' : undefined], type)
    }
    const never = new Promise<Partial<Outcome>>(() => {})
    const { ask, clock, store, frames, called } = await connected({ carry: never })
    for (const type of ['agent.decide', 'agent.stop']) assert.equal(await ask({ type, agentId: 'a', callId: 'k' }), [])
    const { requestId } = called[0]!
    const start = { ...recordsBetween(1, 1)[0]!, seq: 4, type: 'run.start', runId: 'r', turnIndex: 0, cause: 'resume' }
    await store.append('a', [{ ...start, requestId }] as never)
    const before = frames.length
    await clock.advance(100)
    await quiet()
    assert.equal(
      frames.slice(before).map(({ type }) => type),
      ['ok'],
    )
  })

  it('begins agents, but for what is not stored', async () => {
    const { ask, called } = await connected({ open: { seq: 7 } })
    assert.equal(answers(await ask({ type: 'agent.spawn', definition: 'plain', agentId: 'b', incognito: true })), [
      'ENGINE_UNSUPPORTED',
    ])
    const [made] = await ask({ type: 'agent.spawn', definition: 'plain', agentId: 'b', metadata: { user: 'anna' } })
    assert.equal(made?.result, { agentId: 'b', seq: 7 })
    const { requestId, body } = called[0]!
    assert.equal(body, { definition: 'plain', requestId, metadata: { user: 'anna' }, isNew: true })
    const wrong = await connected({ open: refused })
    assert.equal(answers(await wrong.ask({ type: 'agent.spawn', definition: 'plain', agentId: 'b' })), [
      'CALL_NOT_PENDING',
    ])
    for (const type of ['agent.past', 'agent.share', 'agent.watch', 'worker.list'])
      assert.equal(answers(await ask({ type, agentId: 'a' })), ['ENGINE_UNSUPPORTED'], type)
  })

  it('follows each agent once, from where it is asked to, until it is left or the socket is closed', async () => {
    const { socket, ask, send, known, clock, frames, closed, add } = await connected()
    const seqsOf = (told: readonly object[]) =>
      told.flatMap((one) => ('event' in one ? [(one as unknown as { readonly seq: number }).seq] : []))
    assert.equal(seqsOf(await ask({ type: 'agent.subscribe', agentId: 'a', fromSeq: 2 })), [2, 3])
    assert.equal(seqsOf(await ask({ type: 'agent.subscribe', agentId: 'a' })), [1, 2, 3])
    assert.is(clock.pending, 1)
    await ask({ type: 'agent.unsubscribe', agentId: 'a' })
    assert.equal([clock.pending, known.get('a')], [0, 3])
    await ask({ type: 'agent.subscribe', agentId: 'a', fromSeq: 4 })
    await add(4, 4)
    socket.close()
    const before = frames.length
    await clock.advance(1_000)
    await send({ type: 'ping' })
    assert.equal([clock.pending, frames.length - before, closed()], [0, 0, 1])
  })
})
