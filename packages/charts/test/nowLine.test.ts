import { compactTokens, nowLine, type NowFacts } from '../src/nowLine.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('what an agent at work does now', (it) => {
  const cases: readonly (readonly [NowFacts, string])[] = [
    [{ doing: 'thinking' }, 'thinking'],
    [
      {
        turnIndex: 53,
        doing: 'runs npm test',
        forMs: 1_400,
        contextTokens: { used: 9_600, window: 200_000 },
        costUsd: 0.27,
        limits: { turns: 60 },
      },
      'turn 54 · runs npm test · 1.4 s · 9.6K of 200K context · $0.27 · limit 60 turns',
    ],
    [{ turnIndex: 0, doing: 'writing', forMs: 0, costUsd: 0.0018 }, 'turn 1 · writing · 0 ms · $0.0018'],
    [{ doing: 'writing', contextTokens: { used: 812 } }, 'writing · 812 context'],
    [{ doing: 'runs tools', children: 2 }, 'runs tools · 2 sub-agents'],
    [{ doing: 'runs a\nb\u001B[2J' }, 'runs a b'],
    [
      { doing: 'thinking', limits: { turns: 1, costUsd: 5, ms: 600_000, tokens: 1_000_000, onLimit: 'answer' } },
      'thinking · limit 1 turn, $5.00, 10 min 00 s, 1M tokens',
    ],
    [{ doing: 'resting', limits: {} }, 'resting'],
  ]
  for (const [facts, line] of cases) it(`is said as: ${line}`, () => assert.is(nowLine(facts), line))

  it('has tokens in the largest unit', () => {
    const tokens = [0, 999, 999.6, 1_000, 9_640, 999_949, 999_951, 1_250_000, -5]
    assert.equal(tokens.map(compactTokens), ['0', '999', '1K', '1K', '9.6K', '999.9K', '1M', '1.3M', '0'])
  })
})
