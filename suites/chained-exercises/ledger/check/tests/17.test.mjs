import assert from 'node:assert/strict'
import { test } from 'node:test'

test('17 invoice', async () => {
  const { invoice } = await import('../17-invoice.mjs')
  assert.equal(invoice(['adult', 'youth']), 'Total: 60.25 EUR')
  assert.equal(invoice([]), 'Total: 0.00 EUR')
})
