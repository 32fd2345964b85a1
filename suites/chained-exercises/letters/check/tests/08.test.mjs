import assert from 'node:assert/strict'
import { test } from 'node:test'

test('08 shift', async () => {
  const { shift } = await import('../08-shift.mjs')
  assert.equal(shift('xyz', 3), 'abc')
  assert.equal(shift('abc', -3), 'xyz')
  assert.equal(shift('Hi, b!', 1), 'Hj, c!')
  assert.equal(shift('abc', 27), 'bcd')
})
