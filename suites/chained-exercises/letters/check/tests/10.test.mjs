import assert from 'node:assert/strict'
import { test } from 'node:test'

test('10 title', async () => {
  const { title } = await import('../10-title.mjs')
  assert.equal(title('the lord of the rings'), 'The Lord of the Rings')
  assert.equal(title('salt and pepper'), 'Salt and Pepper')
})
