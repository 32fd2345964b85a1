import assert from 'node:assert/strict'
import { test } from 'node:test'

test('15 expand', async () => {
  const { expand } = await import('../15-expand.mjs')
  assert.equal(expand('approx. 3, dept. A, encl. and encl.'), 'roughly 3, bureau A, attached and attached')
  assert.equal(expand('nothing here'), 'nothing here')
})
