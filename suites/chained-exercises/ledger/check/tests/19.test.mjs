import assert from 'node:assert/strict'
import { test } from 'node:test'

test('19 householdFee', async () => {
  const { householdFee } = await import('../19-household.mjs')
  assert.equal(householdFee(['adult']), 4250)
  assert.equal(householdFee(['adult', 'youth']), 6025)
  assert.equal(householdFee(['adult', 'adult', 'youth']), 7325)
  assert.equal(householdFee([]), 0)
})
