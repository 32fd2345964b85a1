import assert from 'node:assert/strict'
import { test } from 'node:test'

test('04 splitCents', async () => {
  const { splitCents } = await import('../04-split.mjs')
  assert.deepEqual(splitCents(100, 3), [34, 33, 33])
  assert.deepEqual(splitCents(101, 2), [51, 50])
  assert.deepEqual(splitCents(2, 4), [1, 1, 0, 0])
  assert.deepEqual(splitCents(9, 1), [9])
  for (const bad of [0, -1, 1.5]) assert.throws(() => splitCents(10, bad), RangeError)
})
