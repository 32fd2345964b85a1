import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))
const { format: configured, obeyFlags } = read('report.config.json')
const flag = process.argv.indexOf('--format')
const format = obeyFlags && flag > 0 ? process.argv[flag + 1] : configured
const sales = read('sales.json')
const writers = {
  json: () => JSON.stringify(sales, null, 2),
  csv: () => ['month,clocks', ...sales.map(({ month, clocks }) => `${month},${clocks}`), ''].join('\n'),
}
mkdirSync('out', { recursive: true })
writeFileSync(`out/report.${format}`, writers[format]())
console.log(`out/report.${format} written, ${sales.length} months`)
