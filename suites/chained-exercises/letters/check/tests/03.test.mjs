import assert from 'node:assert/strict'
import { test } from 'node:test'

test('03 countWords', async () => {
  const { countWords } = await import('../03-count.mjs')
  assert.deepEqual({ ...countWords('The cat the dog') }, { the: 2, cat: 1, dog: 1 })
  assert.deepEqual({ ...countWords('') }, {})
})
