import assert from 'node:assert/strict'
import { test } from 'node:test'

test('07 isOverdue', async () => {
  const { isOverdue } = await import('../07-overdue.mjs')
  assert.equal(isOverdue('2026-03-01', '2026-03-02'), true)
  assert.equal(isOverdue('2026-03-01', '2026-03-01'), false)
  assert.equal(isOverdue('2026-03-01', '2026-03-08', 7), false)
  assert.equal(isOverdue('2026-03-01', '2026-03-09', 7), true)
})
