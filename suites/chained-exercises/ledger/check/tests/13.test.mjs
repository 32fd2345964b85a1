import assert from 'node:assert/strict'
import { test } from 'node:test'

test('13 feeOf', async () => {
  const { feeOf } = await import('../13-fee.mjs')
  assert.deepEqual(
    ['adult', 'youth', 'family'].map((kind) => feeOf(kind)),
    [4250, 1775, 7325],
  )
  for (const bad of ['child', '', undefined, 'toString']) assert.throws(() => feeOf(bad), RangeError)
})
