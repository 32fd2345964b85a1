import { decide, keep, policy, when } from '../../../src/policies.ts'
import { isPolicy } from '../../../src/actors/define/policy.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const right = { name: 'tidy', when: when.tokensOver(10), decide: decide.oldest() } as const

describe('a policy', (it) => {
  it('is refused with what is wrong, by name', () => {
    const wrong: readonly (readonly [options: object, field: string])[] = [
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(65) }, 'name'],
      [{ name: 'a b' }, 'name'],
      [{ name: 7 }, 'name'],
      [{ when: undefined }, 'when'],
      [{ when: {} }, 'when'],
      [{ decide: decide.oldest }, 'decide'],
      [{ keep: null }, 'keep'],
      [{ keep: { keep: 1 } }, 'keep'],
      ...[0, -1, Number.NaN, 2 ** 31, 'x'].map((timeoutMs) => [{ timeoutMs }, 'timeoutMs'] as const),
      ...[0, 1.5, Number.NaN, '5'].map((retryTurns) => [{ retryTurns }, 'retryTurns'] as const),
    ]
    for (const [options, field] of wrong)
      assert.throws(() => policy({ ...right, ...options }), withCode('INVALID_DEFINITION', `: ${field}: `))
    assert.throws(() => policy(undefined as never), withCode('INVALID_DEFINITION', 'name'))
  })

  it('is made of what is right up to its bounds, and known for one', () => {
    const made = policy({ ...right, name: 'x'.repeat(64), timeoutMs: 2 ** 31 - 1, retryTurns: 1, keep: keep.notes() })
    assert.equal([made.timeoutMs, made.retryTurns, isPolicy(made)], [2 ** 31 - 1, 1, true])
    const plain = policy(right)
    assert.equal([plain.timeoutMs, plain.retryTurns, plain.keep.name], [60_000, 5, keep.notes().name])
    for (const other of [{ ...made }, null, 'tidy', () => made]) assert.is(isPolicy(other), false)
    assert.throws(() => Object.assign(made, { name: 'other' }))
  })
})
