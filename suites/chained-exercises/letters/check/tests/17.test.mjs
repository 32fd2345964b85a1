import assert from 'node:assert/strict'
import { test } from 'node:test'

test('17 letter', async () => {
  const { letter } = await import('../17-letter.mjs')
  assert.equal(letter({ to: 'Ada', body: 'All is well.', kind: 'private' }), 'Dear Ada,\nAll is well.\nWARMLY_31')
})
