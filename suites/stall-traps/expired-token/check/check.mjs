import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

assert.deepEqual(JSON.parse(readFileSync('staging/release.json', 'utf8')), { version: '3.4.0' })
assert.ok(readFileSync('deploy.mjs', 'utf8').includes('expires'), 'deploy.mjs no longer looks at the token')
