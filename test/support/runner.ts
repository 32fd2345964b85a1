import { join } from 'node:path'
import { changedFiles, testsOf } from './changedFiles.ts'
import { FileQueue, type QueuedFile } from './fileQueue.ts'
import { ImportGraph } from './importGraph.ts'
import { readOptions, type RunOptions } from './options.ts'
import { setUp } from './setUp.ts'
import { filtered, testFiles } from './testFiles.ts'
import { expectedMs, longestFirst, readTimes, writeTimes } from './times.ts'
import { type FileEnd, Worker } from './workers.ts'

interface Tally {
  passed: number
  failed: number
  skipped: number
  readonly failedTitles: string[]
  readonly ms: Record<string, number>
}

/** A process costs about a second; for less than this it is not worth another one. */
const worthAWorkerMs = 3_000

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const counted = (count: number, one: string, several: string): string => `${count} ${count === 1 ? one : several}`

function choose(
  root: string,
  all: readonly string[],
  graph: ImportGraph,
  { changed, filters }: RunOptions,
): readonly string[] {
  const files = filtered(all, filters)
  if (!changed) return files
  const changes = changedFiles(root)
  if (changes.length === 0) print('No file differs from main: nothing to run.')
  else {
    const { tests, unreached } = testsOf(changes, files, graph)
    const differing = counted(changes.length, 'file differs', 'files differ')
    const among = `${tests.length} of ${counted(files.length, 'test file', 'test files')}`
    print(`${differing} from main; ${among} ${reach(tests.length)} ${changes.length === 1 ? 'it' : 'them'}:`)
    for (const test of tests) print(`  ${test}`)
    if (unreached.length > 0) print(`No test file reaches ${unreached.join(', ')}`)
    return tests
  }
  return []
}

const reach = (count: number): string => (count === 1 ? 'reaches' : 'reach')

/** What a worker's environment has beside ours: compiled code is kept, for it and for all it starts. */
const environment = (root: string, { full }: RunOptions): NodeJS.ProcessEnv => ({
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'escapement'),
  ...process.env,
  ...(full ? { TEST_SEEDS: 'all' } : {}),
})

/** Takes note of what came of a file, and prints it. */
function take(file: string, { report, output }: FileEnd, tally: Tally, verbose: boolean): boolean {
  if (report === undefined) {
    tally.failed += 1
    tally.failedTitles.push(`${file} > the process ended before the tests did`)
    print(`✗ ${file}  the process ended before the tests did\n${indented(output)}`)
    return false
  }
  const { passed, failed, skipped, faults, cases, ms } = report
  tally.passed += passed
  tally.failed += failed.length + faults.length
  tally.skipped += skipped
  tally.ms[file] = ms
  tally.failedTitles.push(...[...failed, ...faults.map(({ title }) => title)].map((title) => `${file} > ${title}`))
  const isSound = failed.length + faults.length === 0
  const counts = [`${passed} passed`]
  if (!isSound) counts.push(`${failed.length + faults.length} failed`)
  if (skipped > 0) counts.push(`${skipped} skipped`)
  print(`${isSound ? '✓' : '✗'} ${file}  ${counts.join(', ')}  ${Math.round(ms)} ms`)
  if (verbose)
    for (const each of cases)
      print(`  ${each.hasPassed ? '✓' : '✗'} ${each.suite}: ${each.title}  ${Math.round(each.ms)} ms`)
  if (!isSound) print(`\n${indented(output.trimEnd())}`)
  for (const { title, lines } of faults)
    print(['', `  FAILED ${title}`, ...lines.map((line) => `    ${line}`)].join('\n'))
  return isSound
}

const mostOutputChars = 20_000
const indented = (output: string): string =>
  output
    .slice(-mostOutputChars)
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')

async function runFiles(root: string, args: readonly string[], tally: Tally): Promise<void> {
  const options = readOptions(args)
  const all = testFiles(root)
  const graph = new ImportGraph(root)
  const files = choose(root, all, graph, options)
  const times = readTimes(root)
  const ready = setUp(files, graph, print)
  const queued = longestFirst(files, times).map((file): QueuedFile => ready(file))
  const queue = new FileQueue(queued)
  const expected = files.map(expectedMs(times)).reduce((sum, ms) => sum + ms, 0)
  const count = Math.min(options.jobs, files.length, 1 + Math.floor(expected / worthAWorkerMs))
  const env = environment(root, options)
  const workers = Array.from({ length: count }, () => new Worker(env))
  const work = async (worker: Worker, index: number): Promise<void> => {
    for (let next = await queue.take(index); next !== undefined; next = await queue.take(index)) {
      const { file, isPage } = next
      const end = await worker.run({ root, file, isPage, bail: options.bail })
      if (isOver) return
      if (take(file, end, tally, options.verbose) || !options.bail) continue
      isOver = true
      queue.clear()
      await Promise.all(workers.map((each) => each.close()))
    }
  }
  let isOver = false
  await Promise.all(workers.map((worker, index) => work(worker, index)))
  await Promise.all(workers.map((worker) => worker.close()))
  if (options.times && !isOver) writeTimes(root, tally.ms, all)
}

/**
 * Runs the test files of `root` and ends the process: exit code 1 when anything failed. The last line of the output is
 * `N passed, N failed, N skipped`; a fault of a file counts as one failed.
 */
export async function runTests(root: string, args: readonly string[]): Promise<never> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0, failedTitles: [], ms: {} }
  try {
    await runFiles(root, args, tally)
  } catch (thrown) {
    tally.failed += 1
    print(thrown instanceof Error ? thrown.message : String(thrown))
  }
  if (tally.failedTitles.length > 0) print('')
  for (const title of tally.failedTitles) print(`FAILED ${title}`)
  print(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`)
  process.exit(tally.failed > 0 ? 1 : 0)
}
