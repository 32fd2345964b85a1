import assert from 'node:assert/strict'
import { test } from 'node:test'

test('16 signature', async () => {
  const { signature } = await import('../16-sign.mjs')
  assert.deepEqual(
    ['private', 'business', 'complaint'].map((kind) => signature(kind)),
    ['WARMLY_31', 'REGARDS_58', 'NOTED_77'],
  )
  assert.throws(() => signature('other'), RangeError)
})
