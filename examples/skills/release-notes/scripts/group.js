import { readFileSync } from 'node:fs'

const headings = { feat: 'New', fix: 'Fixed' }
const lines = readFileSync(process.argv[2], 'utf8').trim().split('\n')
for (const [kind, heading] of Object.entries(headings)) {
  const texts = lines.filter((line) => line.startsWith(`${kind}: `)).map((line) => line.slice(kind.length + 2))
  if (texts.length > 0) console.log(`${heading}\n${texts.map((text) => `- ${text}`).join('\n')}`)
}
