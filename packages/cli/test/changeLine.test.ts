import { changeLine } from '../src/terminal/turnText.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('a change of the conversation in `escapement show`', (it) => {
  const economics = { freed: 1_240, rewritten: 60, paysAfter: 3 }

  it('says what it frees and when that has paid', () => {
    assert.is(
      changeLine({ type: 'revert', applied: true, category: 'failure', target: 3, economics }),
      'revert to n3 (failure) · frees 1,240 tokens, pays after 3 requests',
    )
    assert.is(
      changeLine({ type: 'prune', applied: true, steps: [2, 4], tokens: 1_300, economics }),
      'prune of n2, n4: 1,300 tokens hidden · frees 1,240 tokens, pays after 3 requests',
    )
    const mask = { type: 'prune', steps: [2], tokens: 1_300, masked: true } as const
    assert.is(changeLine({ ...mask, applied: true }), 'mask of n2: 1,300 tokens hidden')
    assert.is(
      changeLine({ ...mask, applied: false, reason: 'mask refused: n2 is pinned' }),
      'no mask: mask refused: n2 is pinned',
    )
    assert.is(
      changeLine({
        type: 'compaction',
        applied: true,
        from: 2,
        to: 9,
        tokensBefore: 2_000,
        tokensAfter: 760,
        economics,
      }),
      'compaction of n2–n9: 2,000 → 760 tokens · frees 1,240 tokens, pays after 3 requests',
    )
  })

  it('says nothing of it in a log from before that was recorded, nor of a refusal', () => {
    assert.is(changeLine({ type: 'revert', applied: true, category: 'tangent', target: 3 }), 'revert to n3 (tangent)')
    assert.is(changeLine({ type: 'revert', applied: false, category: 'tangent', reason: 'no' }), 'no revert: no')
  })
})
