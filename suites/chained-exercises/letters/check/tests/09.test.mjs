import assert from 'node:assert/strict'
import { test } from 'node:test'

test('09 longest', async () => {
  const { longest } = await import('../09-longest.mjs')
  assert.equal(longest('a bbb cc ddd'), 'bbb')
  assert.equal(longest(''), '')
})
