import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

/** What a run of the tests was asked for. */
export interface RunOptions {
  /** Parts of paths; none: all files. */
  readonly filters: readonly string[]
  /** Only what a change since `main` can have broken. */
  readonly changed: boolean
  /** All seeds. */
  readonly full: boolean
  /** Stop at the first failure. */
  readonly bail: boolean
  /** Name every case. */
  readonly verbose: boolean
  /** Write the table of times anew. */
  readonly times: boolean
  /** Processes at a time. */
  readonly jobs: number
}

const usage = `Usage: npm test -- [option]... [part of a path]...
  --changed    only test files that reach a file changed since main
  --full       all seeds of the tests that make their input up, not a quarter
  --bail       stop at the first failure
  --verbose    name every case
  --jobs N     so many processes (default: one a core and one more, at most 4)
  --times      write test/times.json, by which the longest files come first`

/** Throws an error that ends with the usage. */
export function readOptions(args: readonly string[]): RunOptions {
  if (args.includes('--help')) throw new Error(usage)
  try {
    const flag = { type: 'boolean', default: false } as const
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { changed: flag, full: flag, bail: flag, verbose: flag, times: flag, jobs: { type: 'string' } },
    })
    const { jobs: asked, ...flags } = values
    // Tests of the page mostly wait.
    const jobs = Number(asked ?? Math.min(4, availableParallelism() + 1))
    if (!Number.isInteger(jobs) || jobs < 1) throw new Error(`--jobs is "${asked}": give a whole number above 0.`)
    return { ...flags, jobs, filters: positionals.map((part) => part.replace(/^\.\//, '')) }
  } catch (thrown) {
    throw new Error(`${(thrown as Error).message}\n${usage}`, { cause: thrown })
  }
}
