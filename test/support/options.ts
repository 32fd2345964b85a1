import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

/** A part of the files: the `index`th of `count`, from 1. */
export interface Shard {
  readonly index: number
  readonly count: number
}

/** Options of a run of the tests. */
export interface RunOptions {
  /** Parts of paths; none: all files of the tier. */
  readonly filters: readonly string[]
  /** The files of `npm test`, those it leaves out, or both. */
  readonly tier: 'quick' | 'rest' | 'all'
  /** True to leave the long files out although parts of paths name them. */
  readonly quick: boolean
  /** True to try all seeds. */
  readonly allSeeds: boolean
  /** True to run only tests that a change since `main` can have broken. */
  readonly changed: boolean
  /** True to stop at the first failure. */
  readonly bail: boolean
  /** True to name every case. */
  readonly verbose: boolean
  /** True to list the files that took most processor time. */
  readonly times: boolean
  /** True if a case that was flaky twice in the last 14 days fails. */
  readonly nightly: boolean
  readonly shard: Shard | undefined
  /** The seed of the order; `undefined`: longest first. */
  readonly shuffle: number | undefined
  /** Number of processes at a time. */
  readonly jobs: number
}

const usage = `Usage: npm test -- [option]... [part of a path]...
  --rest            the *.full.test.ts alone: what npm test leaves out (npm run test:rest)
  --full            every file, and all seeds of the tests that make their input up, not a quarter (npm run test:full)
  --nightly         --full --shuffle, and a case that was flaky twice in 14 days fails (npm run test:nightly)
  --quick           with parts of paths: without the *.full.test.ts
  --changed         only test files that reach a file changed since main
  --shard I/N       the Ith of N parts of the files
  --shuffle [SEED]  in an order made from the seed, or from one that is printed
  --bail            stop at the first failure
  --verbose         name every case
  --times           list the files that took most processor time
  --jobs N          so many processes (default: one a core and one more, at most 4)
A part of a path chooses among all files, those that npm test leaves out included.`

const flag = { type: 'boolean', default: false } as const
const value = { type: 'string' } as const
const options = {
  quick: flag,
  rest: flag,
  full: flag,
  nightly: flag,
  changed: flag,
  bail: flag,
  verbose: flag,
  times: flag,
  shard: value,
  shuffle: value,
  jobs: value,
}

/** Adds a seed to `--shuffle` if it has none, since `parseArgs` requires a value. */
const withSeed = (args: readonly string[]): string[] =>
  args.flatMap((arg, at) => {
    if (arg === '--shuffle' && !/^\d+$/.test(args[at + 1] ?? '')) return [`--shuffle=${randomInt(1_000_000)}`]
    return [arg]
  })

/** Throws an error that ends with the usage. */
export function readOptions(args: readonly string[]): RunOptions {
  if (args.includes('--help')) throw new Error(usage)
  try {
    const { values, positionals } = parseArgs({ args: withSeed(args), allowPositionals: true, options })
    const { jobs, shard, shuffle, rest, full, nightly, ...flags } = values
    if (values.quick && (rest || full || nightly))
      throw new Error('--quick leaves out what the others add: give one of them.')
    if (rest && (full || nightly)) throw new Error('--rest leaves out what --full and --nightly run: give one of them.')
    return {
      ...flags,
      nightly,
      allSeeds: full || nightly,
      tier: full || nightly ? 'all' : rest ? 'rest' : 'quick',
      // Tests of the page mostly wait.
      jobs: jobs === undefined ? Math.min(4, availableParallelism() + 1) : wholeNumber('--jobs', jobs, 1),
      shard: shard === undefined ? undefined : readShard(shard),
      shuffle: readSeed(shuffle ?? (nightly ? String(randomInt(1_000_000)) : undefined)),
      filters: positionals.map((part) => part.replace(/^\.\//, '')),
    }
  } catch (thrown) {
    throw new Error(`${(thrown as Error).message}\n${usage}`, { cause: thrown })
  }
}

function wholeNumber(name: string, text: string, least: number): number {
  if (/^\d+$/.test(text) && Number(text) >= least && Number.isSafeInteger(Number(text))) return Number(text)
  throw new Error(`${name} is "${text}": give a whole number from ${least}.`)
}

const readSeed = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : wholeNumber('--shuffle', text, 0)

function readShard(text: string): Shard {
  const [, index = NaN, count = NaN] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  if (index >= 1 && index <= count) return { index, count }
  throw new Error(`--shard is "${text}": give the number of the part and of all parts, such as 1/4.`)
}
