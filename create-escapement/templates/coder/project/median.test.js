import assert from 'node:assert/strict'
import { test } from 'node:test'
import { median } from './median.js'

test('the median of numbers is the one in the middle', () => {
  assert.equal(median([10, 9, 1]), 9)
  assert.equal(median([4, 100, 20, 3]), 12)
})
