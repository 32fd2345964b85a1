import * as fc from 'fast-check'
import type { MemoryRecord } from '../../../../src/protocol/ports/memory.ts'
import { isTrusted, mergeMemory } from '../../src/memory/memoryRules.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { fact } from './memoryFolder.ts'

const runs = ['a/r0', 'b/r0', 'c/r0']

const puts: fc.Arbitrary<MemoryRecord> = fc
  .record({
    text: fc.constantFrom('one', 'two'),
    kind: fc.constantFrom('fact' as const, 'lesson' as const),
    tainted: fc.boolean(),
    approved: fc.boolean(),
    confirmations: fc.subarray(runs),
    at: fc.integer({ min: 1, max: 9 }),
  })
  .map(({ text, at, ...more }) => fact('m1', text, { ...more, createdAt: at, updatedAt: at }))

const merged = (records: readonly MemoryRecord[]): MemoryRecord =>
  records.reduce<MemoryRecord | undefined>(mergeMemory, undefined)!

describe('merging what is put into a memory', (it) => {
  it('changes nothing when the same is put again', () => {
    fc.assert(
      fc.property(fc.array(puts, { minLength: 1, maxLength: 5 }), (records) => {
        const once = merged(records)
        assert.equal(mergeMemory(once, records.at(-1)!), once)
      }),
      { seed: 18 },
    )
  })

  it('never lets what is tainted be known, however often it is put', () => {
    fc.assert(
      fc.property(fc.array(puts, { minLength: 1, maxLength: 8 }), (records) => {
        const tainted = records.map((record) => ({ ...record, tainted: true, approved: false }))
        assert.is(isTrusted(merged(tainted)), false)
      }),
      { seed: 18 },
    )
  })

  it('never shows a text as known that nobody came to without taint or vouched for', () => {
    fc.assert(
      fc.property(fc.array(puts, { minLength: 1, maxLength: 8 }), (records) => {
        const kept = merged(records)
        if (!isTrusted(kept)) return
        assert.ok(records.some(({ text, tainted, approved }) => text === kept.text && (approved || !tainted)))
      }),
      { seed: 18 },
    )
  })

  it('takes a lesson for known once two runs came to it, or a person vouches for it', () => {
    const lesson = (run: string, more: Partial<MemoryRecord> = {}): MemoryRecord =>
      fact('l1', `As ${run} says.`, { kind: 'lesson', confirmations: [run], ...more })
    const once = merged([lesson('a/r0'), lesson('a/r0')])
    assert.is(isTrusted(once), false)
    assert.is(isTrusted(merged([once, lesson('b/r0', { tainted: true })])), false)
    const twice = merged([once, lesson('b/r0')])
    assert.equal([isTrusted(twice), twice.text], [true, 'As b/r0 says.'])
    assert.is(isTrusted(merged([once, { ...once, approved: true }])), true)
    assert.is(isTrusted(lesson('a/r0', { tainted: true, confirmations: runs })), false)
  })

  it('keeps the words of a person when a model says it otherwise', () => {
    const kept = merged([fact('m1', 'Tabs.', { approved: true }), fact('m1', 'Spaces.')])
    assert.equal([kept.text, kept.approved], ['Tabs.', true])
    assert.is(
      merged([fact('m1', 'Tabs.', { approved: true }), fact('m1', 'Spaces.', { approved: true })]).text,
      'Spaces.',
    )
  })
})
