import assert from 'node:assert/strict'
import { test } from 'node:test'

test('13 wrap', async () => {
  const { wrap } = await import('../13-wrap.mjs')
  assert.deepEqual(wrap('aa bb cc', 5), ['aa bb', 'cc'])
  assert.deepEqual(wrap('aaaaaaa b', 3), ['aaaaaaa', 'b'])
  assert.deepEqual(wrap('', 5), [])
  const word = 'x'.repeat(22)
  assert.deepEqual(
    wrap(`${word} ${word} y`).map(({ length }) => length),
    [45, 1],
    'the usual width',
  )
  assert.deepEqual(
    wrap(`${word} ${word}z`).map(({ length }) => length),
    [46],
    'the usual width',
  )
})
