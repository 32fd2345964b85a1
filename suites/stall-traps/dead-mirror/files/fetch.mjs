import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const { use, sources } = JSON.parse(readFileSync('sources.json', 'utf8'))
const source = sources[use]
if (source === undefined) throw new Error(`sources.json has no source "${use}"`)
const file = `hosts/${source.host}/words.json`
if (!existsSync(file)) {
  console.error(`connect to ${source.host}: timed out, try again`)
  process.exit(1)
}
mkdirSync('data', { recursive: true })
writeFileSync('data/words.json', readFileSync(file))
console.log(`data/words.json downloaded from ${source.host}`)
