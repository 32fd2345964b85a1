import assert from 'node:assert/strict'
import { test } from 'node:test'

test('15 reminder', async () => {
  const { reminder } = await import('../15-remind.mjs')
  assert.deepEqual(reminder(0), { kind: 'none', cents: 0 })
  assert.deepEqual(reminder(16), { kind: 'none', cents: 0 })
  assert.deepEqual(reminder(17), { kind: 'first', cents: 0 })
  assert.deepEqual(reminder(37), { kind: 'first', cents: 0 })
  assert.deepEqual(reminder(38), { kind: 'second', cents: 450 })
})
