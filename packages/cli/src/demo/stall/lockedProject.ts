import { spawnSync } from 'node:child_process'

export const buildFile = 'build.mjs'
export const checkFile = 'check.mjs'
export const lockFile = 'build.lock'
export const unlockCommand = 'node unlock.mjs'

const readme = `# Prices

The tool \`build\` runs \`node ${buildFile}\`: it makes dist/prices.json of prices.csv. A build holds ${lockFile} while it runs, so that no
other one begins. \`${unlockCommand}\` removes the lock of a process that is gone.
`

const prices = `name,euros
book,25
pan,30
lamp,45
`

const build = `import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

try {
  writeFileSync('${lockFile}', \`\${JSON.stringify({ pid: process.pid, since: new Date() })}\\n\`, { flag: 'wx' })
} catch (error) {
  if (error.code !== 'EEXIST') throw error
  console.error('another build is running: ${lockFile} exists')
  process.exit(1)
}
try {
  const [, ...lines] = readFileSync('prices.csv', 'utf8').trim().split('\\n')
  const rows = lines.map((line) => line.split(',')).map(([name, euros]) => [name, Number(euros)])
  mkdirSync('dist', { recursive: true })
  writeFileSync('dist/prices.json', JSON.stringify(Object.fromEntries(rows)))
  console.log(\`dist/prices.json has \${rows.length} prices\`)
} finally {
  rmSync('${lockFile}')
}
`

const unlock = `import { readFileSync, rmSync } from 'node:fs'

const { pid } = JSON.parse(readFileSync('${lockFile}', 'utf8'))
let isGone = false
try {
  process.kill(pid, 0)
} catch (error) {
  isGone = error.code === 'ESRCH'
}
if (!isGone) throw new Error(\`process \${pid} is still there\`)
rmSync('${lockFile}')
console.log(\`process \${pid} is gone: its lock is removed\`)
`

/** Source of the program that checks the work. */
export const checkProgram = `import { readFileSync } from 'node:fs'

const { book, pan, lamp } = JSON.parse(readFileSync('dist/prices.json', 'utf8'))
if (book !== 25 || pan !== 30 || lamp !== 45) throw new Error('dist/prices.json is wrong')
`

/** Returns a project that cannot be built, because an interrupted build left its lock: contents by path. */
export const lockedProject = (): Record<string, string> => ({
  'README.md': readme,
  'prices.csv': prices,
  [buildFile]: build,
  'unlock.mjs': unlock,
  [checkFile]: checkProgram,
  [lockFile]: `${JSON.stringify({ pid: pidOfTheDead(), since: '2026-02-03T04:05:06.000Z' })}\n`,
})

/** Returns the id of a process that has ended. */
const pidOfTheDead = (): number => spawnSync(process.execPath, ['--version']).pid
