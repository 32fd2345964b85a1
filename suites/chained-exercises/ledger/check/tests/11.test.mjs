import assert from 'node:assert/strict'
import { test } from 'node:test'

test('11 parseLine', async () => {
  const { parseLine } = await import('../11-csv.mjs')
  assert.deepEqual(parseLine('a;b;c'), ['a', 'b', 'c'])
  assert.deepEqual(parseLine('a;;'), ['a', '', ''])
  assert.deepEqual(parseLine('"a;b";c'), ['a;b', 'c'])
  assert.deepEqual(parseLine('"say ""hi""";2'), ['say "hi"', '2'])
})
