/** `npm run check:package -- NAME...`: types and tests of packages, and the contracts that the core keeps with them. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const all = globSync('packages/*/src', { cwd: root })
  .map((path) => basename(join(path, '..')))
  .toSorted()
const names = process.argv.slice(2)
const unknown = names.filter((name) => !all.includes(name))
if (names.length === 0 || unknown.length > 0) {
  const wrong = names.length === 0 ? 'No package is named' : `There is no package ${unknown.join(', ')}`
  console.error(`${wrong}. Usage: npm run check:package -- NAME..., of ${all.join(', ')}.`)
  process.exit(2)
}

const folders = names.map((name) => `packages/${name}/`)
const steps: readonly (readonly string[])[] = [
  ['tsc', '-b', '--incremental', ...folders.map((folder) => `${folder}src`), 'packages'],
  ['oxlint', ...folders],
  [
    'node',
    'test/run.ts',
    '--quick',
    ...folders.filter((folder) => existsSync(join(root, folder, 'test'))),
    'test/contracts/',
  ],
]
for (const [command, ...args] of steps as [string, ...string[]][]) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}
