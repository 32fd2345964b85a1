import assert from 'node:assert/strict'
import { test } from 'node:test'

test('05 percentOf', async () => {
  const { percentOf } = await import('../05-percent.mjs')
  assert.equal(percentOf(1050, 5), 53)
  assert.equal(percentOf(-1050, 5), -53)
  assert.equal(percentOf(1049, 5), 52)
  assert.equal(percentOf(200, 50), 100)
  assert.equal(percentOf(0, 19) + 0, 0)
})
