import assert from 'node:assert/strict'
import { test } from 'node:test'

test('02 formatCents', async () => {
  const { formatCents } = await import('../02-format.mjs')
  for (const [cents, text] of [
    [1250, '12.50'],
    [5, '0.05'],
    [0, '0.00'],
    [-305, '-3.05'],
    [100000, '1000.00'],
    [-7, '-0.07'],
  ])
    assert.equal(formatCents(cents), text)
})
