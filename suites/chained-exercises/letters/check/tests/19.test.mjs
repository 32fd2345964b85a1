import assert from 'node:assert/strict'
import { test } from 'node:test'

test('19 lineCount', async () => {
  const { lineCount } = await import('../19-lines.mjs')
  const word = 'x'.repeat(22)
  assert.equal(lineCount(`${word} ${word} y`), 2)
  assert.equal(lineCount(`${word} ${word}z`), 1)
  assert.equal(lineCount(''), 0)
})
