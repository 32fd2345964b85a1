import assert from 'node:assert/strict'
import { test } from 'node:test'

test('03 sumCents', async () => {
  const { sumCents } = await import('../03-sum.mjs')
  assert.equal(sumCents([]), 0)
  assert.equal(sumCents([5, -7, 100]), 98)
  for (const bad of [[1.5], [1, '2'], [null], [NaN]]) assert.throws(() => sumCents(bad), RangeError)
})
