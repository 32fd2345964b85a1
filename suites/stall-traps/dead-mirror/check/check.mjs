import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const words = ['anchor', 'barrel', 'crown', 'detent', 'escapement', 'fusee']
assert.deepEqual(JSON.parse(readFileSync('data/words.json', 'utf8')), words)
