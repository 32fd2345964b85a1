import { factsAtRest, factsOf, ownPending, standingOf, standingWords, type StandingFacts } from '../src/standing.ts'
import type { LastRun } from '../../../src/protocol/runs/lastRun.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const facts = (given: Partial<StandingFacts>): StandingFacts => ({ state: 'idle', waits: false, ...given })
const ended = (stopReason: 'stop' | 'error' | 'paused' | 'aborted', rest: Partial<LastRun> = {}): LastRun => ({
  stopReason,
  at: 0,
  ...rest,
})
const error = { code: 'MODEL_AUTH', message: 'The key is wrong.' } as const

describe('where an agent stands', (it) => {
  const cases: readonly (readonly [Partial<StandingFacts>, ReturnType<typeof standingOf>, string])[] = [
    [{}, 'idle', 'idle'],
    [{ last: ended('stop') }, 'idle', 'idle'],
    [{ last: ended('aborted') }, 'idle', 'idle'],
    [{ last: ended('error', { error }) }, 'failed', 'failed: MODEL_AUTH'],
    [{ last: ended('error') }, 'failed', 'failed'],
    [{ state: 'replying.requesting', last: ended('error', { error }) }, 'working', 'thinking'],
    [{ state: 'replying.streaming' }, 'working', 'writing'],
    [{ state: 'executing' }, 'working', 'runs tools'],
    [{ state: 'executing', doing: 'run_command npm\ntest' }, 'working', 'runs run_command npm test'],
    [{ state: 'executing', doing: 'deploy', waits: true }, 'waiting', 'waits for you'],
    [{ state: 'draining.pins' }, 'working', 'tidies its conversation'],
    [{ state: 'draining.folding' }, 'working', 'folds old steps'],
    [{ state: 'paused' }, 'paused', 'paused'],
    [
      { state: 'paused', last: ended('paused', { reason: { type: 'approvals', callIds: [] } }) },
      'waiting',
      'waits for you',
    ],
    [
      { state: 'paused', last: ended('paused', { reason: { type: 'limit', limit: 'turns', allowed: 60, used: 60 } }) },
      'paused',
      'paused: limit of 60 turns',
    ],
    [
      { state: 'paused', last: ended('paused', { reason: { type: 'interrupted' } }) },
      'paused',
      'paused: its process died',
    ],
    [{ state: 'stopped', last: ended('error', { error }), waits: true }, 'ended', 'stopped'],
    [{ state: 'closed' }, 'ended', 'at rest'],
    [{ state: 'of.a.newer.server' }, 'working', 'of.a.newer.server'],
  ]
  for (const [given, standing, words] of cases) {
    it(`says "${words}" of ${JSON.stringify(given)}`, () => {
      assert.equal(standingOf(facts(given)), standing)
      assert.equal(standingWords(facts(given)), words)
    })
  }
})

describe('what waits in a tree', (it) => {
  it('is counted once: at the agent whose it is', () => {
    const boss = { agentId: 'a', pending: ['a/0/x', 'a.1/0/y', 'ab/0/z'], pendingApprovals: [] }
    assert.equal(ownPending(boss), ['a/0/x'])
    const of = { ...boss, state: 'executing', pending: ['a.1/0/y'] }
    assert.is(standingOf(factsOf(of)), 'working')
    assert.is(standingOf(factsOf({ ...of, agentId: 'a.1' })), 'waiting')
    // A server of an older version.
    assert.equal(ownPending({ agentId: 'a', pendingApprovals: ['a/0/x', 'a.1/0/y'] }), ['a/0/x'])
  })
})

describe('where a session at rest stands', (it) => {
  const cases: readonly (readonly [Parameters<typeof factsAtRest>[0], ReturnType<typeof standingOf>, string])[] = [
    [{ status: 'completed', isStopped: false, last: ended('stop') }, 'ended', 'at rest'],
    [{ status: 'completed', isStopped: false }, 'ended', 'at rest'],
    [{ status: 'failed', isStopped: false, last: ended('error', { error }) }, 'failed', 'failed: MODEL_AUTH'],
    // Of a server of an older version.
    [{ status: 'failed', isStopped: false }, 'failed', 'failed'],
    [{ status: 'failed', isStopped: true, last: ended('error', { error }) }, 'ended', 'stopped'],
    [{ status: 'running', isStopped: false }, 'paused', 'paused: its process died'],
    [{ status: 'paused', isStopped: false }, 'paused', 'paused'],
    [
      {
        status: 'paused',
        isStopped: false,
        last: ended('paused', { reason: { type: 'approvals', callIds: ['x'] } }),
      },
      'waiting',
      'waits for you',
    ],
  ]
  for (const [given, standing, words] of cases) {
    it(`says "${words}" of ${JSON.stringify(given)}`, () => {
      assert.is(standingOf(factsAtRest(given)), standing)
      assert.is(standingWords(factsAtRest(given)), words)
    })
  }
})
