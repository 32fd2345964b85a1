import { foldPending, nothingAsked, pendingOf, type Asked } from '../../src/client/fold/foldPending.ts'
import type { AgentEvent, EventOf } from '../../../../src/protocol/events.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const paths: Readonly<Record<string, readonly string[]>> = { a: [], 'a.1': ['a'], 'a.1.1': ['a', 'a.1'], 'a.2': ['a'] }

const event = <T extends AgentEvent['type']>(type: T, agentId: string, rest: Partial<EventOf<T>>): AgentEvent =>
  ({ type, agentId, path: paths[agentId], ...rest }) as unknown as AgentEvent

const asks = (agentId: string, callId = 'c'): AgentEvent =>
  event('approval.requested', agentId, { callId, key: `${agentId}/${callId}`, name: 'pay', input: {} })

const after = (before: Asked, ...events: readonly AgentEvent[]): Asked =>
  events.reduce((asked, next) => foldPending(asked, next, { agentId: 'a' }), before)

const waiting = after(nothingAsked, ...['a', 'a.1', 'a.1.1', 'a.2'].map((agentId) => asks(agentId)))

const agentsOf = ({ pending }: Asked): readonly string[] => pending.map(({ agentId }) => agentId)

const left = (next: AgentEvent, childId?: string): readonly string[] =>
  agentsOf(foldPending(waiting, next, { agentId: 'a', childId }))

describe('what waits for people, folded from events', (it) => {
  it('is what was asked, of agents below too, each once', () => {
    assert.equal(
      waiting.pending.map(({ kind, key, path }) => [kind, key, path.length]),
      [
        ['approval', 'a/c', 0],
        ['approval', 'a.1/c', 1],
        ['approval', 'a.1.1/c', 2],
        ['approval', 'a.2/c', 1],
      ],
    )
    assert.is(after(waiting, asks('a')).pending.length, 4)
  })

  it('ends with a decision, an answer, and the end of the call', () => {
    assert.equal(left(event('approval.decided', 'a.1', { key: 'a.1/c' })), ['a', 'a.1.1', 'a.2'])
    assert.equal(left(event('question.answered', 'a', { key: 'a/c' })), ['a.1', 'a.1.1', 'a.2'])
    assert.equal(left(event('tool.end', 'a.2', { callId: 'c' })), ['a', 'a.1', 'a.1.1'])
  })

  it('ends with the sub-agent that asks, however deep, and with that of the call that ends', () => {
    assert.equal(left(event('child.ended', 'a', { childId: 'a.1' })), ['a', 'a.2'])
    assert.equal(left(event('tool.end', 'a', { callId: 'other' }), 'a.1'), ['a', 'a.2'])
    assert.equal(left(event('tool.end', 'a.2', { callId: 'other' }), 'a.1'), ['a', 'a.1', 'a.1.1', 'a.2'])
  })

  it('rests with the run that it was asked in, whosever that is, and waits again in the next one', () => {
    assert.equal(left(event('run.end', 'a', {})), ['a.1', 'a.1.1', 'a.2'])
    assert.equal(left(event('run.end', 'a.1', {})), ['a', 'a.1.1', 'a.2'])
    const paused = after(waiting, event('run.end', 'a', {}), event('run.end', 'a.2', {}))
    assert.equal(agentsOf(paused), ['a.1', 'a.1.1'])
    const resumed = after(paused, event('run.start', 'a', {}))
    assert.equal(agentsOf(resumed), ['a', 'a.1', 'a.1.1'])
    assert.equal(agentsOf(after(resumed, event('run.start', 'a.2', {}))), ['a.2', 'a', 'a.1', 'a.1.1'])
    assert.equal(after(resumed, event('run.start', 'a', {})), resumed, 'each once')
    // A server may have said so before the events did.
    const told = { pending: waiting.pending, resting: paused.resting }
    assert.is(after(told, event('run.start', 'a', {})).pending.length, 4)
  })

  it('does not wait again once it was answered, asked anew, or given up', () => {
    const paused = after(waiting, event('run.end', 'a', {}))
    const again = (...between: readonly AgentEvent[]): readonly string[] =>
      agentsOf(after(paused, ...between, event('run.start', 'a', {})))
    assert.equal(again(event('approval.decided', 'a', { key: 'a/c' })), ['a.1', 'a.1.1', 'a.2'])
    assert.equal(again(event('tool.end', 'a', { callId: 'c' })), ['a.1', 'a.1.1', 'a.2'])
    assert.equal(again(asks('a')), ['a.1', 'a.1.1', 'a.2', 'a'])
    assert.equal(again(event('agent.stopped', 'a', {})), [])
  })

  it('is the same object while nothing changes', () => {
    for (const next of [
      event('turn.start', 'a', {}),
      event('child.ended', 'a', { childId: 'a.9' }),
      event('run.end', 'a.9', {}),
      event('run.start', 'a', {}),
    ])
      assert.is(after(waiting, next), waiting)
  })

  it('is what the server says, with the ancestors of those that ask', () => {
    const call = { callId: 'c', name: 'pay', input: {} }
    const tree = { id: 'a', children: [{ id: 'a.1', children: [{ id: 'a.1.1', children: [] }] }] }
    const asked = [{ kind: 'approval', agentId: 'a.1.1', key: 'k', ...call }] as const
    assert.equal(pendingOf({ path: [], tree, asked, approvals: [] }), [{ ...asked[0], path: ['a', 'a.1'] }])
    const older = pendingOf({ path: ['root'], tree, approvals: [{ agentId: 'a.1', key: 'k', ...call }] })
    assert.equal(older, [{ kind: 'approval', agentId: 'a.1', key: 'k', ...call, path: ['root', 'a'] }])
  })
})
