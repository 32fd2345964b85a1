import { foldPending, pendingOf } from '../../src/client/fold/foldPending.ts'
import type { ChatPending } from '../../src/client/fold/chat.ts'
import type { AgentEvent, EventOf } from '../../src/protocol/events.ts'
import { assert, describe } from '../support/suite.ts'

const paths: Readonly<Record<string, readonly string[]>> = { a: [], 'a.1': ['a'], 'a.1.1': ['a', 'a.1'], 'a.2': ['a'] }

const event = <T extends AgentEvent['type']>(type: T, agentId: string, rest: Partial<EventOf<T>>): AgentEvent =>
  ({ type, agentId, path: paths[agentId], ...rest }) as unknown as AgentEvent

const asks = (agentId: string, callId = 'c'): AgentEvent =>
  event('approval.requested', agentId, { callId, key: `${agentId}/${callId}`, name: 'pay', input: {} })

const waiting: readonly ChatPending[] = ['a', 'a.1', 'a.1.1', 'a.2']
  .map((agentId) => asks(agentId))
  .reduce((pending: readonly ChatPending[], next) => foldPending(pending, next, { agentId: 'a' }), [])

const left = (next: AgentEvent, childId?: string): readonly string[] =>
  foldPending(waiting, next, { agentId: 'a', childId }).map(({ agentId }) => agentId)

describe('what waits for people, folded from events', (it) => {
  it('is what was asked, of agents below too, each once', () => {
    assert.equal(
      waiting.map(({ kind, key, path }) => [kind, key, path.length]),
      [
        ['approval', 'a/c', 0],
        ['approval', 'a.1/c', 1],
        ['approval', 'a.1.1/c', 2],
        ['approval', 'a.2/c', 1],
      ],
    )
    assert.is(foldPending(waiting, asks('a'), { agentId: 'a' }).length, 4)
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

  it('ends with the run of the agent that is followed, which those below it survive', () => {
    assert.equal(left(event('run.end', 'a', {})), ['a.1', 'a.1.1', 'a.2'])
    assert.equal(left(event('run.end', 'a.1', {})), ['a', 'a.1', 'a.1.1', 'a.2'])
    assert.equal(left(event('agent.stopped', 'a', {})), [])
  })

  it('is the same array while nothing changes', () => {
    for (const next of [event('turn.start', 'a', {}), event('child.ended', 'a', { childId: 'a.9' })])
      assert.is(foldPending(waiting, next, { agentId: 'a' }), waiting)
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
