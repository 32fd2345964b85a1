import assert from 'node:assert/strict'
import { test } from 'node:test'

test('06 vowels', async () => {
  const { vowels } = await import('../06-vowels.mjs')
  assert.equal(vowels('Escapement'), 4)
  assert.equal(vowels('AEIOU xyz'), 5)
  assert.equal(vowels(''), 0)
})
