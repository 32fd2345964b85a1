import assert from 'node:assert/strict'
import { test } from 'node:test'

test('14 indented', async () => {
  const { indented } = await import('../14-indent.mjs')
  assert.equal(indented('text'), '     text')
})
