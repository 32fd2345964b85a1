import assert from 'node:assert/strict'
import { test } from 'node:test'

test('02 capital', async () => {
  const { capital } = await import('../02-capital.mjs')
  assert.equal(capital('clock'), 'Clock')
  assert.equal(capital('mcDonald'), 'McDonald')
  assert.equal(capital(''), '')
})
