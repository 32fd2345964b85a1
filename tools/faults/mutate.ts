/**
 * `npm run mutate -- [folder or part of an id]...`: plants the faults of `tools/faults/planted`, one at a time, in a copy of the
 * project, runs the tests named beside each, and prints which faults no test noticed.
 *
 * Options: `--jobs N` copies at a time (default: one per core), `--least P` the share in percent that must be killed
 * (default 85). Exit code: 0, 1 when fewer were killed, 2 when nothing could be measured.
 */
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

/** A slip that somebody could make, and the tests that should notice it. */
export interface Fault {
  /** Unique id, such as `machines-7`. */
  readonly id: string
  /** Path from the root of the project. */
  readonly file: string
  /** Consequence of the fault for a user. */
  readonly what: string
  /** Text to replace; it occurs exactly once in the file. */
  readonly from: string
  readonly to: string
  /** Path filters of the test runner, tried in this order until one fails. */
  readonly tests: readonly string[]
}

interface Outcome {
  readonly fault: Fault
  /** Why the tests failed; `undefined` when all of them passed. */
  readonly killedBy: string | undefined
}

const root = join(import.meta.dirname, '..', '..')
const copied = [
  'package.json',
  'tsconfig.json',
  'oxlint.config.ts',
  'README.md',
  'src',
  'packages',
  'test',
  'tsconfig.doors.json',
  'suites',
  'tools',
  'scripts',
  'examples',
  'docs',
  // For what packs it.
  '.gitignore',
  'LICENSE',
  'package-lock.json',
  'tsconfig.build.json',
]
/** Most milliseconds of a stage, since a fault may make a test wait for ever. */
const stageTimeoutMs = 300_000

/** Every fault of `tools/faults/planted`, by file name and then as listed. */
export async function readFaults(): Promise<readonly Fault[]> {
  const folder = join(import.meta.dirname, 'planted')
  const lists: (readonly Fault[])[] = []
  for (const name of (await readdir(folder)).toSorted()) {
    const module = (await import(`./planted/${name}`)) as { readonly faults: readonly Fault[] }
    lists.push(module.faults)
  }
  return lists.flat()
}

/** `text` with the fault planted. Throws when the place is not there, or there more than once. */
export function plant(text: string, { id, file, from, to }: Fault): string {
  const places = text.split(from).length - 1
  if (places === 1 && from !== to) return text.replace(from, () => to)
  throw new Error(
    `${id}: its text occurs ${places} times in ${file}. Bring tools/faults/planted up to date with the code.`,
  )
}

async function copyProject(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'escapement-mutate-'))
  // Those of the site and of the peers are of no use to a test.
  const filter = (path: string): boolean => basename(path) !== 'node_modules'
  for (const path of copied) await cp(join(root, path), join(copy, path), { recursive: true, filter })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Why the tests of `filter` fail in `folder`; `undefined` when they pass. */
function failureOf(folder: string, filter: string): Promise<string | undefined> {
  const child = spawn(process.execPath, ['test/run.ts', '--bail', '--jobs', '1', filter], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // What is compiled for a copy is of no use to anybody else.
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, '.compileCache') },
    // A group of its own: what a test has started goes with it.
    detached: true,
  })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, stageTimeoutMs)
  let output = ''
  const take = (chunk: Buffer): void => void (output += chunk.toString())
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      if (code === 0) return resolve(undefined)
      if (isLate) return resolve(`${filter} did not end in ${stageTimeoutMs / 1_000} s`)
      resolve(
        /^\s*FAILED (.*)$/m.exec(output)?.[1] ?? output.trim().split('\n').at(-1) ?? `${filter} exited with ${code}`,
      )
    })
  })
}

async function tryFault(folder: string, fault: Fault): Promise<Outcome> {
  const path = join(folder, fault.file)
  const sound = await readFile(path, 'utf8')
  await writeFile(path, plant(sound, fault))
  try {
    for (const filter of fault.tests) {
      const killedBy = await failureOf(folder, filter)
      if (killedBy !== undefined) return { fault, killedBy }
    }
    return { fault, killedBy: undefined }
  } finally {
    await writeFile(path, sound)
  }
}

/** Gives each item to the next free copy of the project; `work` is called with the copy's folder. */
async function inCopies<T>(
  items: readonly T[],
  jobs: number,
  work: (folder: string, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const one = async (): Promise<void> => {
    const folder = await copyProject()
    try {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(folder, item)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, one))
}

/** Throws if a test fails without any fault, since it would seem to detect all faults. */
async function checkSound(faults: readonly Fault[], jobs: number): Promise<void> {
  const filters = [...new Set(faults.flatMap(({ tests }) => tests))].toSorted()
  console.log(`${faults.length} faults. First their tests as they are: ${filters.join(' ')}`)
  const failures: string[] = []
  await inCopies(filters, jobs, async (folder, filter) => {
    const why = await failureOf(folder, filter)
    if (why !== undefined) failures.push(`  ${filter}: ${why}`)
  })
  if (failures.length > 0) throw new Error(`These fail without a fault; mend them first:\n${failures.join('\n')}`)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { jobs: { type: 'string' }, least: { type: 'string' } },
  })
  const numberOf = (name: 'jobs' | 'least', otherwise: number): number => {
    const value = Number(values[name] ?? otherwise)
    if (Number.isInteger(value) && value > 0) return value
    throw new Error(`--${name} is "${values[name]}": give a whole number above 0.`)
  }
  const jobs = numberOf('jobs', availableParallelism())
  const least = numberOf('least', 85)

  const all = await readFaults()
  const isMeant = ({ id, file }: Fault): boolean =>
    positionals.length === 0 || positionals.some((part) => id.startsWith(part) || file.includes(part))
  const faults = all.filter(isMeant)
  if (faults.length === 0) {
    const areas = [...new Set(all.map(({ id }) => id.replace(/-\d+$/, '')))]
    throw new Error(
      `No fault matches "${positionals.join(' ')}". Name a folder of src, or one of: ${areas.join(', ')}.`,
    )
  }
  for (const fault of faults) plant(await readFile(join(root, fault.file), 'utf8'), fault)
  await checkSound(faults, jobs)

  const survivors: Fault[] = []
  await inCopies(faults, jobs, async (folder, fault) => {
    const { killedBy } = await tryFault(folder, fault)
    if (killedBy === undefined) survivors.push(fault)
    console.log(`${killedBy === undefined ? 'SURVIVED' : 'killed  '} ${fault.id}  ${killedBy ?? fault.what}`)
  })

  const killed = faults.length - survivors.length
  const share = (100 * killed) / faults.length
  if (survivors.length > 0) console.log('\nNo test noticed:')
  for (const { id, file, what } of survivors) console.log(`  ${id}  ${file}: ${what}`)
  console.log(`\n${killed} of ${faults.length} killed (${share.toFixed(1)} %)`)
  process.exitCode = share >= least ? 0 : 1
}

if (import.meta.main) {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
  }
}
