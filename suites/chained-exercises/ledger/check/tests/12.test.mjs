import assert from 'node:assert/strict'
import { test } from 'node:test'

test('12 byDate', async () => {
  const { byDate } = await import('../12-sort.mjs')
  const entries = [
    { date: '2026-02-01', n: 1 },
    { date: '2026-01-01', n: 2 },
    { date: '2026-02-01', n: 3 },
  ]
  assert.deepEqual(
    byDate(entries).map(({ n }) => n),
    [2, 1, 3],
  )
  assert.deepEqual(
    entries.map(({ n }) => n),
    [1, 2, 3],
    'the given array was changed',
  )
})
