import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const title = 'Clocks that never let you be late'
const page = readFileSync('site/index.html', 'utf8')
assert.ok(page.includes(`<title>${title}</title>`) && page.includes(`<h1>${title}</h1>`), page)
