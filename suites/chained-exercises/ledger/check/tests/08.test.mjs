import assert from 'node:assert/strict'
import { test } from 'node:test'

test('08 groupBy', async () => {
  const { groupBy } = await import('../08-group.mjs')
  const entries = [
    { a: 'x', n: 1 },
    { a: 'y', n: 2 },
    { a: 'x', n: 3 },
  ]
  assert.deepEqual({ ...groupBy(entries, 'a') }, { x: [entries[0], entries[2]], y: [entries[1]] })
  assert.deepEqual({ ...groupBy([], 'a') }, {})
})
