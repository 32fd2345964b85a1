import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { failureText } from './failureText.ts'
import { leftOpen, openHandles } from './openHandles.ts'
import { type Failure, nextTurn, runCase, within } from './runCase.ts'
import { type Case, Registry } from './suite.ts'

const usage = 'Usage: node test/run.ts [--bail] [--verbose] [part of a path]...'
const importTimeoutMs = 10_000

interface Options {
  readonly filters: readonly string[]
  readonly bail: boolean
  readonly verbose: boolean
}

interface Tally {
  passed: number
  failed: number
  skipped: number
  readonly failedTitles: string[]
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function parse(args: readonly string[]): Options {
  const unknown = args.find((arg) => arg.startsWith('-') && arg !== '--bail' && arg !== '--verbose')
  if (unknown !== undefined) throw new Error(`${unknown} is not an option. ${usage}`)
  return {
    filters: args.filter((arg) => !arg.startsWith('-')).map((arg) => arg.replace(/^\.\//, '')),
    bail: args.includes('--bail'),
    verbose: args.includes('--verbose'),
  }
}

/** The test files under `root` that a filter names, sorted; throws on a file that only looks like one, and on an idle filter. */
function findFiles(root: string, filters: readonly string[]): readonly string[] {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((path) => `test/${path.split(sep).join('/')}`)
    .toSorted()
  const stray = all.find((path) => /[._-](tests?|spec)\.[cm]?[jt]sx?$/.test(path) && !path.endsWith('.test.ts'))
  if (stray !== undefined) throw new Error(`${stray} would never run: name it *.test.ts`)
  const files = all.filter((path) => path.endsWith('.test.ts'))
  const idle = filters.find((filter) => !files.some((file) => file.includes(filter)))
  if (idle !== undefined) throw new Error(`No test file has "${idle}" in its path`)
  const chosen = files.filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  if (chosen.length === 0) throw new Error('There are no test files')
  return chosen
}

/** Collects what nobody caught, so that it fails the case or the file it happened in. */
class Strays {
  #found: Failure[] = []

  listen(): void {
    process.on('unhandledRejection', (thrown) => this.#found.push({ during: 'unhandled rejection', thrown }))
    process.on('uncaughtException', (thrown) => this.#found.push({ during: 'uncaught exception', thrown }))
  }

  take(): readonly Failure[] {
    const found = this.#found
    this.#found = []
    return found
  }
}

interface FileReport {
  readonly failures: { readonly title: string; readonly failures: readonly Failure[] }[]
  readonly verbose: string[]
  passed: number
  skipped: number
}

async function runOne(testCase: Case, report: FileReport, strays: Strays): Promise<void> {
  const started = performance.now()
  const title = `${testCase.suite}: ${testCase.title}`
  if (testCase.body === undefined) {
    report.skipped++
    report.verbose.push(`  - ${title}`)
    return
  }
  const failures = [...(await runCase(testCase)), ...strays.take()]
  if (failures.length === 0) report.passed++
  else report.failures.push({ title, failures })
  report.verbose.push(`  ${failures.length === 0 ? '✓' : '✗'} ${title}  ${Math.round(performance.now() - started)} ms`)
}

async function runFile(root: string, file: string, strays: Strays, bail: boolean): Promise<FileReport> {
  const report: FileReport = { failures: [], verbose: [], passed: 0, skipped: 0 }
  const handles = openHandles()
  const fault = (what: unknown): void => {
    const thrown = typeof what === 'string' ? Object.assign(new Error(what), { stack: '' }) : what
    report.failures.push({ title: 'the file itself', failures: [{ during: 'file', thrown }] })
  }
  const registry = Registry.open()
  try {
    await within(importTimeoutMs, 'loading the file', () => import(pathToFileURL(join(root, file)).href))
  } catch (thrown) {
    fault(thrown)
  }
  if (registry.cases.length === 0 && report.failures.length === 0) fault('no case is registered')
  const cases = [...registry.cases]
  for (const testCase of cases) {
    await runOne(testCase, report, strays)
    if (bail && report.failures.length > 0) return report
  }
  const left = await leftOpen(handles)
  if (left.length > 0) fault(`left open at the end: ${left.join(', ')}`)
  await nextTurn()
  for (const stray of strays.take()) report.failures.push({ title: 'outside of any case', failures: [stray] })
  registry.faults.forEach(fault)
  const executed = report.verbose.length
  if (registry.cases.length !== executed) {
    fault(`${registry.cases.length} cases are registered, but ${executed} were executed: describe was called too late`)
  }
  return report
}

function printReport(file: string, report: FileReport, ms: number, verbose: boolean): void {
  const failed = report.failures.length
  const counts = [`${report.passed} passed`]
  if (failed > 0) counts.push(`${failed} failed`)
  if (report.skipped > 0) counts.push(`${report.skipped} skipped`)
  print(`${failed > 0 ? '✗' : '✓'} ${file}  ${counts.join(', ')}  ${Math.round(ms)} ms`)
  if (verbose) report.verbose.forEach(print)
  for (const { title, failures } of report.failures) {
    print(`\n  FAILED ${title}`)
    for (const failure of failures) for (const line of failureText(failure)) print(`    ${line}`)
    print('')
  }
}

async function runFiles(root: string, args: readonly string[], tally: Tally): Promise<void> {
  const options = parse(args)
  const files = findFiles(root, options.filters)
  const strays = new Strays()
  strays.listen()
  for (const file of files) {
    const started = performance.now()
    const report = await runFile(root, file, strays, options.bail)
    tally.passed += report.passed
    tally.failed += report.failures.length
    tally.skipped += report.skipped
    tally.failedTitles.push(...report.failures.map(({ title }) => `${file} > ${title}`))
    printReport(file, report, performance.now() - started, options.verbose)
    if (options.bail && report.failures.length > 0) return
  }
}

/**
 * Runs the test files of `root` and ends the process: exit code 1 when anything failed. The last line of the output is
 * `N passed, N failed, N skipped`; a fault of a file counts as one failed.
 */
export async function runTests(root: string, args: readonly string[]): Promise<never> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0, failedTitles: [] }
  let finished = false
  // The last word, whoever ends the process: a test that calls process.exit, or a loop with nothing left to do.
  process.on('exit', () => {
    if (!finished) {
      tally.failed++
      print('FAILED the process ended before the tests did')
    }
    process.exitCode = tally.failed > 0 ? 1 : 0
    print(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`)
  })
  try {
    await runFiles(root, args, tally)
  } catch (thrown) {
    tally.failed++
    print(thrown instanceof Error ? thrown.message : String(thrown))
  }
  if (tally.failedTitles.length > 0) print('')
  for (const title of tally.failedTitles) print(`FAILED ${title}`)
  finished = true
  // Not by letting the loop run dry: what was left open would hold it.
  process.exit()
}
