import assert from 'node:assert/strict'
import { test } from 'node:test'

test('05 backwards', async () => {
  const { backwards } = await import('../05-backwards.mjs')
  assert.equal(backwards('one  two three'), 'three two one')
  assert.equal(backwards(''), '')
})
