import assert from 'node:assert/strict'
import { test } from 'node:test'

test('18 fileName', async () => {
  const { fileName } = await import('../18-filed.mjs')
  assert.equal(fileName(2026, 42), '2026_000042.txt')
})
