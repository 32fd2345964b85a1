import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

try {
  writeFileSync('build.lock', `${JSON.stringify({ pid: process.pid, since: new Date() })}\n`, { flag: 'wx' })
} catch (error) {
  if (error.code !== 'EEXIST') throw error
  console.error('another build is running: build.lock exists')
  process.exit(1)
}
try {
  const [, ...lines] = readFileSync('prices.csv', 'utf8').trim().split('\n')
  const rows = lines.map((line) => line.split(',')).map(([name, euros]) => [name, Number(euros)])
  mkdirSync('dist', { recursive: true })
  writeFileSync('dist/prices.json', JSON.stringify(Object.fromEntries(rows)))
  console.log(`dist/prices.json has ${rows.length} prices`)
} finally {
  rmSync('build.lock')
}
