import assert from 'node:assert/strict'
import { test } from 'node:test'

test('06 daysBetween', async () => {
  const { daysBetween } = await import('../06-days.mjs')
  assert.equal(daysBetween('2026-02-27', '2026-03-01'), 2)
  assert.equal(daysBetween('2024-02-28', '2024-03-01'), 2)
  assert.equal(daysBetween('2026-03-01', '2026-02-27'), -2)
  assert.equal(daysBetween('2026-01-01', '2027-01-01'), 365)
})
