import { CallAnswers } from '../../src/client/callAnswers.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const call = (key: string, name = 'pay') => ({ kind: 'call', key, callId: key, agentId: 'a', name, input: { n: 1 } })

/** An agent of which the case says what waits. */
function answering(refusal?: Error) {
  const decided: unknown[] = []
  const reported: string[] = []
  const listeners = new Set<(event: AgentEvent) => unknown>()
  const state = { asked: [] as object[], snapshots: 0, failure: undefined as Error | undefined }
  const agent = {
    subscribe(listener: (event: AgentEvent) => unknown) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async snapshot() {
      state.snapshots += 1
      if (state.failure !== undefined) throw state.failure
      return { asked: state.asked }
    },
    async decide(key: string, decision: unknown) {
      decided.push([key, decision])
      if (refusal !== undefined) throw refusal
    },
    report: ({ code }: { readonly code: string }) => void reported.push(code),
  }
  const answers = new CallAnswers(agent as never)
  const happens = (type: string, more: object): void => {
    for (const listener of listeners) listener({ type, agentId: 'a', path: [], ...more } as never)
  }
  return {
    answers,
    decided,
    reported,
    listeners,
    state,
    happens,
    asks: (key: string) => happens('call.requested', call(key)),
  }
}

describe('calls that a client carries out', (it) => {
  const add = (
    of: ReturnType<typeof answering>,
    run: (input: unknown, context: { signal: AbortSignal }) => unknown,
    name = 'pay',
  ) => of.answers.add(name, run)

  it('are each carried out once, those that waited before and those that come', async () => {
    const of = answering()
    of.state.asked = [call('k1'), call('k2', 'other'), { ...call('k3'), kind: 'approval' }]
    const end = add(of, () => 'done')
    await quiet()
    assert.equal(of.decided, [['k1', { result: 'done' }]])
    const gate = Promise.withResolvers<string>()
    end()
    assert.is(of.listeners.size, 0)
    add(of, () => gate.promise)
    of.asks('k4')
    of.asks('k4')
    await of.answers.look()
    gate.resolve('late')
    await quiet()
    assert.equal(
      of.decided.slice(1).filter((one) => (one as [string])[0] === 'k4'),
      [['k4', { result: 'late' }]],
    )
  })

  it('are heard of while one function is there, and looked for by none', async () => {
    const of = answering()
    const [one, other] = [add(of, () => 1), add(of, () => 2, 'other')]
    assert.is(of.listeners.size, 1)
    one()
    assert.is(of.listeners.size, 1)
    other()
    assert.is(of.listeners.size, 0)
    const { snapshots } = of.state
    await of.answers.look()
    assert.is(of.state.snapshots, snapshots)
    assert.throws(() => add(of, 5 as never), /onCall takes/)
    add(of, () => 1)
    assert.throws(() => add(of, () => 2), /another function/)
  })

  it('that wait no more are aborted and not decided', async () => {
    const of = answering()
    const gate = Promise.withResolvers<string>()
    let signal: AbortSignal | undefined
    add(of, (_, context) => {
      signal = context.signal
      return gate.promise
    })
    of.asks('k1')
    of.happens('tool.end', { key: 'other' })
    assert.is(signal?.aborted, false)
    of.happens('tool.end', { key: 'k1' })
    assert.is(signal?.aborted, true)
    gate.resolve('late')
    await quiet()
    assert.equal(of.decided, [])
  })

  it('that fail are decided with why', async () => {
    const of = answering()
    add(of, () => Promise.reject(Object.assign(new Error('no money'), { code: 'X' })))
    of.asks('k1')
    await quiet()
    assert.equal(of.decided, [['k1', { error: 'no money' }]])
  })

  for (const [refusal, reported] of [
    [new RuntimeError('CALL_NOT_PENDING', 'faster'), []],
    [new RuntimeError('BRIDGE_FORBIDDEN', 'no'), ['BRIDGE_FORBIDDEN']],
    [Object.assign(new Error('no'), { code: 'CALL_NOT_PENDING' }), ['INTERNAL']],
    [new TypeError('no'), ['INTERNAL']],
  ] as const)
    it(`whose decision is refused with ${String(refusal)} are ${reported.length === 0 ? 'left' : 'reported'}`, async () => {
      const of = answering(refusal)
      add(of, () => 1)
      of.asks('k1')
      await quiet()
      assert.equal(of.reported, reported)
    })

  it('that are still asked for once they were carried out are carried out again', async () => {
    const of = answering(new Error('The connection was lost.'))
    of.state.asked = [call('k1')]
    add(of, () => 'done')
    await quiet()
    await of.answers.look()
    await quiet()
    assert.equal([of.decided.length, of.reported], [2, ['INTERNAL', 'INTERNAL']])
  })

  it('are reported where they cannot be looked for', async () => {
    const of = answering()
    of.state.failure = new RuntimeError('BRIDGE_FORBIDDEN', 'no')
    add(of, () => 1)
    await quiet()
    assert.equal(of.reported, ['BRIDGE_FORBIDDEN'])
  })
})
