import assert from 'node:assert/strict'
import { test } from 'node:test'

test('20 layoutSource', async () => {
  const { layoutSource } = await import('../20-source.mjs')
  assert.equal(layoutSource(), 'LAYOUT_SHEET_7C, made by Ottilie Brandvold')
})
