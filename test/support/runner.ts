import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { chooseFiles, counted } from './chooseFiles.ts'
import { FileQueue, type QueuedFile } from './fileQueue.ts'
import { oftenFlaky, flakyList, rememberFlaky } from './flakyCases.ts'
import { ImportGraph } from './importGraph.ts'
import { readOptions, type RunOptions } from './options.ts'
import { minutes, progress } from './progress.ts'
import { type Reaper, runMark, startReaper } from './reaping.ts'
import { setUp } from './setUp.ts'
import { shuffled } from './shuffled.ts'
import { processorTime } from './startedProcesses.ts'
import { Tally } from './tally.ts'
import { testFiles } from './testFiles.ts'
import { expectedMs, longestFirst, readTimes, type Times, writeTimes } from './times.ts'
import { Worker } from './workers.ts'

/** Least work, in milliseconds, that is worth another process, which costs about a second. */
const worthAWorkerMs = 3_000
const mostListed = 700

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Environment of a worker. Besides the runner's own variables, it sets a cache of compiled code, for the worker and all its child processes. */
const environment = (root: string, mark: string, { allSeeds }: RunOptions): NodeJS.ProcessEnv => ({
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'escapement'),
  ...process.env,
  [runMark]: mark,
  ...(allSeeds ? { TEST_SEEDS: 'all' } : {}),
})

/** Orders files: longest first, or by the seed; then each file has a fixed worker, so that the seed determines the order. */
function inOrder(
  files: readonly QueuedFile[],
  times: Times,
  count: number,
  { shuffle }: RunOptions,
): readonly QueuedFile[] {
  if (shuffle !== undefined) return shuffled(files, shuffle).map((each, at) => ({ ...each, home: at % count }))
  const byFile = new Map(files.map((each) => [each.file, each]))
  return longestFirst([...byFile.keys()], times).map((file) => byFile.get(file)!)
}

class Run {
  readonly #root: string
  readonly #options: RunOptions
  readonly #tally: Tally
  readonly #reaper: Reaper
  readonly #mark = randomUUID()
  #isOver = false

  constructor(root: string, options: RunOptions, tally: Tally) {
    this.#root = root
    this.#options = options
    this.#tally = tally
    this.#reaper = startReaper(this.#mark)
  }

  async files(): Promise<void> {
    const [options, tally] = [this.#options, this.#tally]
    const all = testFiles(this.#root)
    const graph = new ImportGraph(this.#root)
    const files = chooseFiles(this.#root, all, graph, options, print)
    const times = readTimes()
    const expected = files.map(expectedMs(times)).reduce((sum, ms) => sum + ms, 0)
    // Not by durations where a seed is to make the same again.
    const worth = options.shuffle === undefined ? 1 + Math.floor(expected / worthAWorkerMs) : files.length
    const count = Math.min(options.jobs, files.length, worth)
    if (options.shuffle !== undefined) print(`In the order of --shuffle ${options.shuffle} --jobs ${options.jobs}.`)
    const queued = inOrder(files.map(setUp(files, graph, print)), times, count, options)
    const queue = new FileQueue(queued, { isShared: options.shuffle === undefined })
    const env = environment(this.#root, this.#mark, options)
    const workers = Array.from({ length: count }, () => new Worker(env, (pid) => this.#reaper.tell(pid)))
    const far = progress(files, times, () => performance.now())
    const work = async (worker: Worker, index: number): Promise<void> => {
      for (let next = await queue.take(index); next !== undefined; next = await queue.take(index)) {
        const { file, isPage } = next
        const end = await worker.run({ root: this.#root, file, isPage, bail: options.bail })
        if (this.#isOver) return
        const before = tally.failed
        const [first, ...others] = tally.take(file, end, options)
        print([`${first}  (${far.next(file)})`, ...others].join('\n'))
        if (tally.failed === before || !options.bail) continue
        this.#isOver = true
        queue.clear()
        await Promise.all(workers.map((each) => each.close()))
      }
    }
    await Promise.all(workers.map((worker, index) => work(worker, index)))
    await Promise.all(workers.map((worker) => worker.close()))
    if (!this.#isOver) keep(() => writeTimes(tally.ms, all), 'durations')
  }

  /** Ends processes that still run; one that should have ended by itself is a failure. */
  async end(): Promise<void> {
    for (const { file = 'no file', command } of await this.#reaper.end())
      this.#tally.fail(file, `left running at the end: ${command}`)
  }
}

/** Writes data for later runs; a failure to write is only printed. */
function keep(write: () => void, what: string): void {
  try {
    write()
  } catch (thrown) {
    print(`The ${what} could not be kept: ${(thrown as Error).message}`)
  }
}

/** Remembers flaky cases. In the nightly run, cases that are flaky repeatedly are failures. */
function judgeFlaky(tally: Tally, { nightly }: RunOptions): void {
  const now = Date.now()
  keep(() => rememberFlaky(tally.flaky, now), 'flaky cases')
  if (!nightly) return
  for (const [name, times] of oftenFlaky(now))
    tally.fail(flakyList(), `${name}: flaky ${times} times in the last 14 days`)
}

/** Exit codes by the signal that ends the run, as shells report them. */
const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/**
 * Runs the test files of `root` and ends the process: exit code 1 when anything failed. The last line of the output is
 * `N passed, N failed, N skipped`; a fault of a file counts as one failed. Whatever ends the run, nothing that it started lives on.
 */
export async function runTests(root: string, args: readonly string[]): Promise<never> {
  const tally = new Tally()
  const close = (code: number): never => {
    for (const line of tally.closing()) print(line)
    process.exit(code)
  }
  let run: Run | undefined
  try {
    const options = readOptions(args)
    run = new Run(root, options, tally)
    const ended = run
    for (const [signal, code] of Object.entries(codes))
      process.once(signal, () => {
        print(`\nEnded by ${signal} after ${counted(tally.files, 'file', 'files')}.`)
        void ended.end().then(() => close(code))
      })
    await run.files()
    judgeFlaky(tally, options)
    if (options.times) for (const line of tally.dearest(mostListed)) print(line)
  } catch (thrown) {
    tally.failed += 1
    print(thrown instanceof Error ? thrown.message : String(thrown))
  }
  await run?.end()
  const [wall, cpu] = [performance.now(), processorTime()]
  if (tally.files > 0)
    print(
      `\n${counted(tally.files, 'file', 'files')} in ${minutes(wall)}, ${Math.round(cpu / 1_000)} s of processor time`,
    )
  return close(tally.failed > 0 ? 1 : 0)
}
