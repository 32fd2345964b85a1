import assert from 'node:assert/strict'
import { test } from 'node:test'

test('18 statement', async () => {
  const { statement } = await import('../18-statement.mjs')
  const entries = [
    { date: '2026-02-01', text: 'hall', kind: 'out', cents: 700 },
    { date: '2026-01-15', text: 'fees', kind: 'in', cents: 650 },
  ]
  assert.deepEqual(statement(entries), ['2026-01-15 fees: 6.50', '2026-02-01 hall: -0.50'])
})
