import assert from 'node:assert/strict'
import { test } from 'node:test'

test('20 feeSource', async () => {
  const { feeSource } = await import('../20-source.mjs')
  assert.equal(feeSource(), 'FEE_TABLE_2026B, decided by Henrike Asmussen')
})
