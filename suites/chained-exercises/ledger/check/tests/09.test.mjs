import assert from 'node:assert/strict'
import { test } from 'node:test'

test('09 balance', async () => {
  const { balance } = await import('../09-balance.mjs')
  assert.equal(balance([]), 0)
  assert.equal(
    balance([
      { kind: 'in', cents: 500 },
      { kind: 'out', cents: 120 },
      { kind: 'out', cents: 400 },
    ]),
    -20,
  )
})
