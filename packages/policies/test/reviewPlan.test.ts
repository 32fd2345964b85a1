import { planOf, reviewSchema } from '../src/reviewPlan.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { fakeConsultation } from './fakeConsultation.ts'

/** n1 is a person's, n2 to n31 are the model's. */
const at = fakeConsultation({
  steps: [{ role: 'user' as const }, ...Array.from({ length: 30 }, () => ({}))],
})
const bounds = { keepSteps: 10, mostReverted: 20 }
const planned = (answer: unknown, limits = bounds): unknown => planOf(answer, at, limits)

describe('the plan of a reviewer', (it) => {
  it('is what it answers, each id once', () => {
    assert.equal(
      planned({
        hide: ['n3', 'n4', 'n3'],
        note: ' n3 was wrong. ',
        why: 'out of date',
      }),
      { hide: ['n3', 'n4'], note: 'n3 was wrong.', why: 'out of date' },
    )
  })

  it('tells with the lesson of a revert what would stand on a step that it takes away', () => {
    const revert = { step: 'n20', category: 'failure', summary: 'It does not work.' } as const
    const note = 'n3 was wrong.'
    assert.equal(planned({ note, revert }), { revert: { ...revert, summary: 'It does not work. n3 was wrong.' } })
    assert.equal(planned({ note, revert: { ...revert, step: 'n4' } }), {
      note,
      why: 'left out: a revert to n4 takes away 27 steps, and it may take 20',
    })
  })

  it('is none when it wants nothing, however it says so', () => {
    for (const answer of [
      {},
      { hide: [] },
      { hide: [], revert: null, note: ' ', why: 'All is needed.' },
      { hide: null },
    ])
      assert.is(planned(answer), null)
  })

  it('leaves ids that are unknown, fixed or malformed to the kernel, which says what is wrong with each', () => {
    assert.equal(planned({ hide: ['n1', 'n999', 'step 3'] }), { hide: ['n1', 'n999', 'step 3'] })
    assert.equal(planned({ revert: { step: 'the start', category: 'tangent' } }), {
      revert: { step: 'the start', category: 'tangent' },
    })
  })

  it('leaves out the newest steps, and says so', () => {
    assert.equal(planned({ hide: ['n2', 'n22', '31'], why: 'sure' }), {
      hide: ['n2'],
      why: 'sure; left out: n22, 31 of the newest 10 steps',
    })
    assert.equal(planned({ hide: ['n21'] }), { hide: ['n21'] })
  })

  it('leaves out a revert of too many steps, or of any when it may not revert', () => {
    const far = { hide: ['n2'], revert: { step: 'n11', category: 'failure' } }
    assert.equal(planned({ ...far, revert: { step: 'n11', category: 'failure' } }), far)
    assert.equal(planned({ ...far, revert: { step: 'n10', category: 'failure' } }), {
      hide: ['n2'],
      why: 'left out: a revert to n10 takes away 21 steps, and it may take 20',
    })
    assert.equal(planned(far, { keepSteps: 10, mostReverted: 0 }), { hide: ['n2'], why: 'left out: it may not revert' })
  })

  it('fails when nothing of it is allowed, so that the log says why nothing happened', () => {
    assert.throws(
      () => planned({ hide: ['n30'], revert: { step: 'n1', category: 'failure' } }),
      /goes too far: n30 of the newest 10 steps; a revert to n1 takes away 30 steps/,
    )
  })

  it('fails when the answer is no plan, naming what is wrong', () => {
    assert.throws(() => planned(undefined), /answered no plan/)
    assert.throws(() => planned({ hide: 'n3' }), /answered no plan: hide: /)
    assert.throws(() => planned({ hide: [3] }), /hide\.0: /)
    assert.throws(() => planned({ revert: { step: 'n3', category: 'boredom' } }), /revert\.category: /)
    assert.throws(() => planned({ revert: { step: 'n3', category: 'completion' } }), /revert\.category: /)
    assert.throws(() => planned({ hide: Array.from({ length: 3_000 }, () => 'n2') }), /hide: /)
    assert.throws(() => planned({ note: 'x'.repeat(3_000) }), /note: /)
  })

  it('offers a revert only where there may be one', () => {
    assert.ok('revert' in reviewSchema(bounds).shape)
    assert.not.ok('revert' in reviewSchema({ keepSteps: 10, mostReverted: 0 }).shape)
  })
})
