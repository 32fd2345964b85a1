import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'

assert.deepEqual(JSON.parse(readFileSync('dist/prices.json', 'utf8')), { book: 25, pan: 30, lamp: 45 })
assert.equal(existsSync('build.lock'), false, 'the lock is still there')
