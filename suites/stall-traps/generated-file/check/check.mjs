import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'

// As it was in the repository: a check that says yes to everything proves nothing.
writeFileSync(
  'generate.mjs',
  `import { readFileSync, writeFileSync } from 'node:fs'
const lines = readFileSync('messages.txt', 'utf8').trim().split('\\n')
writeFileSync('src/messages.mjs', lines.map((line) => line.split('=')).map(([name, text]) => \`export const \${name} = '\${text}'\\n\`).join(''))
`,
)
await import('./generate.mjs')
const { greeting, farewell } = await import('./src/messages.mjs')
assert.equal(greeting, 'Hello, and welcome')
assert.equal(farewell, 'Good bye')
