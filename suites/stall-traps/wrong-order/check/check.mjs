import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const { tables, done } = JSON.parse(readFileSync('db.json', 'utf8'))
assert.deepEqual(tables, { users: ['id', 'name', 'email'] })
assert.deepEqual(done.toSorted(), ['addEmail', 'createUsers'])
