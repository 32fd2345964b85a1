import assert from 'node:assert/strict'
import { test } from 'node:test'

test('04 cut', async () => {
  const { cut } = await import('../04-cut.mjs')
  assert.equal(cut('abcdef', 6), 'abcdef')
  assert.equal(cut('abcdef', 4), 'abc…')
  assert.equal(cut('ab', 1), '…')
})
