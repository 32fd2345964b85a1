import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const report = readFileSync('out/report.csv', 'utf8').trim().split(/\r?\n/)
assert.deepEqual(report, ['month,clocks', '2026-01,12', '2026-02,9', '2026-03,17'])
