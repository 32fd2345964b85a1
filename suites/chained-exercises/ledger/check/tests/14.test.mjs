import assert from 'node:assert/strict'
import { test } from 'node:test'

test('14 bankCharge', async () => {
  const { bankCharge } = await import('../14-bank.mjs')
  assert.deepEqual(
    [0, 12, 13, 20].map((count) => bankCharge(count)),
    [0, 0, 35, 280],
  )
})
