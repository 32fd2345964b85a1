import * as fc from 'fast-check'
import { addToHeap, takeFromHeap } from '../../tools/bench/scale/heap.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

const isBefore = (a: number, b: number): boolean => a < b

describe('a heap', (it) => {
  it('gives the least of what is in it, however it is filled and emptied', () => {
    const steps = fc.array(fc.oneof(fc.integer(), fc.constant('take' as const)), { maxLength: 200 })
    fc.assert(
      fc.property(steps, (list) => {
        const heap: number[] = []
        const sorted: number[] = []
        for (const step of [...list, ...list.map(() => 'take' as const)])
          if (step === 'take') assert.is(takeFromHeap(heap, isBefore), sorted.shift())
          else {
            addToHeap(heap, step, isBefore)
            sorted.push(step)
            sorted.sort((a, b) => a - b)
          }
        assert.equal(heap, [])
      }),
      { seed: 5, numRuns: someRuns(200) },
    )
  })
})
