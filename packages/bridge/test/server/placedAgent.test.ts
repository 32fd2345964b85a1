import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { FollowedTree } from '../../src/server/followedTree.ts'
import { FollowedLog } from '../../src/server/followedLog.ts'
import { PlacedAgent } from '../../src/server/placedAgent.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 10; n += 1) await new Promise((resolve) => setImmediate(resolve))
}
/** State of a promise by now. */
const now = async (promise: Promise<unknown>): Promise<string> => {
  let state = 'pending'
  promise.then(
    () => (state = 'resolved'),
    (thrown: unknown) => (state = `rejected: ${(thrown as Error).message}`),
  )
  await turns()
  return state
}

type Answer = {
  readonly ended?: Promise<{ stopReason: 'error'; error?: { code: string; message: string } } | undefined>
}

/** An agent whose engine and log do what the case says. */
function placed() {
  const root = new FollowedLog('a')
  const listeners = new Set<(event: AgentEvent) => unknown>()
  const state = { wakes: 0, failure: undefined as Error | undefined, onWake: (): void => {} }
  const sent: (PromiseWithResolvers<Answer> & { readonly type: string; readonly id: string })[] = []
  const tree = {
    root,
    catchUp: async () => {
      state.wakes += 1
      if (state.failure !== undefined) throw state.failure
      await Promise.resolve()
      state.onWake()
    },
    subscribe: (listener: (event: AgentEvent) => unknown) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  let ids = 0
  const agent = new PlacedAgent('a', {
    tree: tree as unknown as FollowedTree,
    definition: () => undefined,
    newId: () => `id${(ids += 1)}`,
    dispatch: {
      begin: async () => 1,
      command: ({ type }, id) => {
        const one = { ...Promise.withResolvers<Answer>(), type, id }
        sent.push(one)
        return one.promise
      },
    },
  })
  let seq = 0
  /** The log has another record. */
  const happens = (type: string, more: object = {}): void => {
    seq += 1
    const record = { v: 3, seq, time: 0, type, runId: 'r', turnIndex: 0, ...more }
    for (const event of root.take(record as never)) for (const listener of listeners) listener(event)
  }
  const runStart = (requestId: string): void => happens('run.start', { requestId, cause: 'prompt', messages: 0 })
  const runEnd = (stopReason: string): void =>
    happens('run.end', {
      stopReason,
      turns: 1,
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      costUsd: 0,
    })
  return { agent, sent, state, listeners, happens, runStart, runEnd }
}

const prompt = { type: 'agent.prompt', agentId: 'a', content: 'x' } as const

describe('an agent that an engine places', (it) => {
  it('takes commands in order, each once the one before is taken or refused', async () => {
    const { agent, sent, runStart } = placed()
    agent.dispatch({ type: 'agent.steer', agentId: 'a', content: 'x' } as never, { requestId: 'q' })
    agent.abort()
    await turns()
    assert.equal(
      sent.map(({ type }) => type),
      ['agent.steer'],
    )
    sent[0]!.reject(new Error('refused'))
    await turns()
    assert.equal(
      sent.map(({ type, id }) => [type, id]),
      [
        ['agent.steer', 'q'],
        ['agent.abort', 'id1'],
      ],
    )
    runStart('other')
  })

  it('never gives two commands one id', async () => {
    const { agent, sent } = placed()
    const dispatch = (command: object): void => {
      agent.dispatch({ agentId: 'a', ...command } as never, { requestId: 'q' })
    }
    dispatch({ type: 'agent.decide', callId: 'c1', decision: 'approve' })
    dispatch({ type: 'agent.decide', callId: 'c2', decision: 'approve' })
    dispatch({ type: 'agent.abort' })
    for (let n = 0; n < 3; n += 1) {
      await turns()
      sent[n]!.resolve({})
    }
    assert.equal(
      sent.map(({ id }) => id),
      ['q', 'q/c2', 'q/agent.abort'],
    )
  })

  it('has taken a prompt once its log has it, or it is over', async () => {
    for (const how of ['log', 'ended', 'known'] as const) {
      const { agent, sent, runStart, listeners } = placed()
      if (how === 'known') runStart('q')
      agent.dispatch({ type: 'agent.steer', agentId: 'a', content: 'x' } as never, { requestId: 'q' })
      await turns()
      const taken = agent.taken()
      assert.is(await now(taken), 'pending')
      const ended = Promise.withResolvers<undefined>()
      sent[0]!.resolve({ ended: ended.promise })
      if (how !== 'known') assert.is(await now(taken), 'pending')
      if (how === 'log') runStart('q')
      if (how === 'ended') ended.resolve(undefined)
      assert.is(await now(taken), 'resolved')
      assert.is(listeners.size, 0)
    }
  })

  it('has taken a prompt that waits for a run before once the engine has it', async () => {
    const { agent, sent, runStart } = placed()
    runStart('p')
    agent.dispatch(prompt, { requestId: 'q' })
    await turns()
    sent[0]!.resolve({})
    assert.is(await now(agent.taken()), 'resolved')
  })

  it('has taken a decision once the engine has it, or the log', async () => {
    for (const [how, record] of [
      ['engine', undefined],
      ['approval', ['approval.decided', { requestId: 'q' }]],
      ['answer', ['question.answered', { requestId: 'q' }]],
    ] as const) {
      const { agent, sent, happens, listeners } = placed()
      agent.dispatch({ type: 'agent.decide', agentId: 'a', callId: 'c', decision: 'approve' } as never, {
        requestId: 'q',
      })
      await turns()
      const taken = agent.taken()
      if (record !== undefined) happens(record[0], { ...record[1], requestId: 'another' })
      assert.is(await now(taken), 'pending', how)
      if (record === undefined) sent[0]!.resolve({})
      else happens(record[0], record[1])
      assert.is(await now(taken), 'resolved', how)
      assert.is(listeners.size, 0)
    }
  })

  it('says what was refused, and then no more', async () => {
    const { agent, sent, listeners } = placed()
    agent.decide('c', 'approve')
    await turns()
    const taken = agent.taken()
    sent[0]!.reject(new RuntimeError('CALL_NOT_PENDING', 'No such call.'))
    assert.match(await now(taken), 'No such call')
    assert.is(await now(agent.taken()), 'resolved')
    assert.is(listeners.size, 0)
  })

  it('closes by an abort that is taken', async () => {
    const { agent, sent } = placed()
    const closed = agent.close()
    assert.is(await now(closed), 'pending')
    assert.is(sent[0]?.type, 'agent.abort')
    sent[0]!.resolve({})
    assert.is(await now(closed), 'resolved')
  })

  it('tells how a run ends, by its log, or by the engine where the log does not', async () => {
    const { agent, sent, runStart, runEnd, listeners } = placed()
    const run = agent.dispatch(prompt, { requestId: 'q' })!
    assert.is(run.requestId, 'q')
    await turns()
    sent[0]!.resolve({ ended: Promise.resolve(undefined) })
    runStart('q')
    assert.is(await now(run.result), 'pending')
    runEnd('stop')
    assert.is((await run.result).stopReason, 'stop')
    await turns()
    assert.is(listeners.size, 0)
    assert.is(agent.dispatch({ type: 'agent.compact', agentId: 'a' } as never), undefined)
  })

  it('tells how a run ended that never began', async () => {
    const never = placed()
    const run = never.agent.dispatch(prompt, { requestId: 'q' })!
    await turns()
    never.state.failure = new Error('no')
    never.sent[0]!.resolve({
      ended: Promise.resolve({ stopReason: 'error', error: { code: 'AGENT_STOPPED', message: 'It has.' } }),
    })
    const result = await run.result
    assert.equal([result.stopReason, result.error?.code], ['error', 'AGENT_STOPPED'])
    const refused = placed()
    const other = refused.agent.dispatch(prompt, { requestId: 'q' })!
    await turns()
    refused.sent[0]!.reject(new RuntimeError('QUEUE_FULL', 'Full.'))
    assert.is((await other.result).error?.code, 'QUEUE_FULL')
    await turns()
    assert.is(refused.listeners.size, 0)
  })

  it('is iterated as long as somebody reads', async () => {
    const { agent, happens, listeners } = placed()
    const events = agent.events()
    happens('turn.start')
    assert.is((await events.next()).value?.type, 'turn.start')
    await events.return?.()
    assert.is(listeners.size, 0)
  })

  it('was asked what its log has, once that is read', async () => {
    const { agent, state, runStart } = placed()
    assert.is(await agent.wasAsked('q'), false)
    state.onWake = () => runStart('q')
    assert.equal([await agent.wasAsked('q'), state.wakes], [true, 2])
  })
})
