import { standingOf, standingWords, type StandingFacts } from '../../src/charts/standing.ts'
import { assert, describe } from '../support/suite.ts'

const facts = (given: Partial<StandingFacts>): StandingFacts => ({ state: 'idle', waits: false, ...given })
const ended = (stopReason: 'stop' | 'error' | 'paused' | 'aborted', rest = {}) => ({ stopReason, at: 0, ...rest })
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
      { state: 'paused', last: ended('paused', { reason: { type: 'limit', limit: 'maxTurns', allowed: 5, used: 5 } }) },
      'paused',
      'paused: limit of maxTurns',
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
