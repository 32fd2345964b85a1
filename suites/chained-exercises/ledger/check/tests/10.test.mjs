import assert from 'node:assert/strict'
import { test } from 'node:test'

test('10 runningBalance', async () => {
  const { runningBalance } = await import('../10-running.mjs')
  assert.deepEqual(runningBalance([]), [])
  assert.deepEqual(
    runningBalance([
      { kind: 'in', cents: 500 },
      { kind: 'out', cents: 120 },
      { kind: 'in', cents: 20 },
    ]),
    [500, 380, 400],
  )
})
