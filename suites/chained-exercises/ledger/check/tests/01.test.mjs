import assert from 'node:assert/strict'
import { test } from 'node:test'

test('01 toCents', async () => {
  const { toCents } = await import('../01-cents.mjs')
  assert.equal(toCents('12.50'), 1250)
  assert.equal(toCents('7'), 700)
  assert.equal(toCents('-3.05'), -305)
  assert.equal(toCents('0.09'), 9)
  for (const bad of ['', '1.5', '1.234', 'abc', '12.50 EUR', '1,50']) assert.throws(() => toCents(bad), RangeError, bad)
})
