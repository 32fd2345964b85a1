import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { receive } from './server.mjs'

const { records, batchSize } = JSON.parse(readFileSync('upload.json', 'utf8'))
let arrived = 0
try {
  while (arrived < records) arrived += receive(Math.min(batchSize, records - arrived))
} catch (error) {
  console.error(`upload failed: ${error.message}`)
  process.exit(1)
}
mkdirSync('out', { recursive: true })
writeFileSync('out/receipt.json', JSON.stringify({ arrived }))
console.log(`${arrived} records arrived`)
