import assert from 'node:assert/strict'
import { test } from 'node:test'

test('12 once', async () => {
  const { once } = await import('../12-once.mjs')
  assert.equal(once('the the cat the'), 'the cat the')
  assert.equal(once('a a a b'), 'a b')
})
