import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const page = readFileSync('public/index.html', 'utf8')
assert.equal(page, '<!doctype html>\n<title>Opening hours</title>\n<p>Monday to Friday, 9 to 17</p>\n')
