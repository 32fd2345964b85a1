import assert from 'node:assert/strict'
import { test } from 'node:test'

test('11 initials', async () => {
  const { initials } = await import('../11-initials.mjs')
  assert.equal(initials('ada byron king'), 'ABK')
  assert.equal(initials(''), '')
})
