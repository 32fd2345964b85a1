import assert from 'node:assert/strict'
import { test } from 'node:test'

test('16 accountOf', async () => {
  const { accountOf } = await import('../16-account.mjs')
  assert.deepEqual(
    ['fees', 'donations', 'hall', 'bank'].map((kind) => accountOf(kind)),
    [4013, 4027, 6114, 6238],
  )
  assert.throws(() => accountOf('rent'), RangeError)
})
