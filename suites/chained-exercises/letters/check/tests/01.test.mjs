import assert from 'node:assert/strict'
import { test } from 'node:test'

test('01 words', async () => {
  const { words } = await import('../01-words.mjs')
  assert.deepEqual(words('  a  bc\nd '), ['a', 'bc', 'd'])
  assert.deepEqual(words(''), [])
  assert.deepEqual(words('   '), [])
})
