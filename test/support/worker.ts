/**
 * Runs test files one after the other for `test/run.ts`, in a process of its own: a message with a file comes in, the file's cases
 * run in uvu's queue, and one message with a report goes out.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CaseBook, type EndedCase, openCaseBook, type RetriedCase } from './caseBook.ts'
import { failureText } from './failureText.ts'
import { keepGlobals } from './globals.ts'
import { leftOpen, openHandles } from './openHandles.ts'
import { fileMark } from './reaping.ts'
import { nextTurn, within } from './runCase.ts'
import { killRunning, leftRunning, processorTime, runningProcesses, watchProcesses } from './startedProcesses.ts'
import { listenForStrays, takeStrays } from './strays.ts'

/** Order to run a test file. */
export interface FileOrder {
  readonly root: string
  /** Path of the file from the root, with `/`. */
  readonly file: string
  readonly bail: boolean
  /** True if the file needs a browser. */
  readonly isPage: boolean
}

/** Fault of a file besides failures of its cases. */
export interface FileFault {
  readonly title: string
  readonly lines: readonly string[]
}

export interface FileReport {
  readonly passed: number
  readonly failed: readonly string[]
  readonly skipped: number
  readonly faults: readonly FileFault[]
  readonly cases: readonly EndedCase[]
  readonly flaky: readonly RetriedCase[]
  readonly ms: number
  /** Processor time, in milliseconds, with that of the processes it started. */
  readonly cpuMs: number
  /** Bytes written to standard output so far, by which the reader knows that it has read everything. */
  readonly written: number
}

/** Result of a uvu suite: its failures in words, and the numbers of cases that passed, were skipped, and exist. */
type Outcome = readonly [failures: string | true, passed: number, skipped: number, total: number]
type Group = [name: string | null, ...runs: (() => Promise<Outcome>)[]]

declare global {
  // uvu's own names.
  var UVU_QUEUE: Group[]
  var UVU_DEFER: number
  var UVU_INDEX: number
}

const importTimeoutMs = 10_000
// Before uvu is loaded: its queue waits for `exec`.
globalThis.UVU_DEFER = 1
const { exec } = await import('uvu')

/** Tells whether a file imports uvu directly, past `suite.ts`: uvu does not report a suite that was never run. */
const importsUvu = (path: string): boolean =>
  /^import\s[\w\s{},*]*\bfrom\s*['"]uvu['"]/m.test(readFileSync(path, 'utf8'))

const faultOf = (title: string, thrown: unknown): FileFault => ({
  title,
  lines: failureText({ during: 'file', thrown }),
})

const said = (message: string): FileFault => ({ title: 'the file itself', lines: [message] })

/** Loads a file, whose suites go into uvu's queue, and has uvu run them. */
async function runQueue(path: string, file: string, faults: FileFault[]): Promise<readonly Outcome[]> {
  const group: Group = [file]
  globalThis.UVU_QUEUE.splice(0, Infinity, group)
  globalThis.UVU_INDEX = 0
  const outcomes: Outcome[] = []
  try {
    await within(importTimeoutMs, 'loading the file', () => import(pathToFileURL(path).href))
    const [name, ...runs] = group
    const counted = runs.map((run) => async () => {
      const outcome = await run()
      outcomes.push(outcome)
      return outcome
    })
    group.splice(0, Infinity, name, ...counted)
    await exec()
  } catch (thrown) {
    faults.push(faultOf('the file itself', thrown))
  }
  process.exitCode = undefined
  return outcomes
}

/** Yields the faults of a file that uvu does not report. */
function* silentFaults(
  path: string,
  book: CaseBook,
  outcomes: readonly Outcome[],
  isWhole: boolean,
): Generator<string> {
  if (importsUvu(path)) yield 'it imports uvu: a test file goes through describe of test/support/suite.ts'
  if (!isWhole) return
  const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, each) => total + of(each), 0)
  const [passed, skipped, total] = [sum((each) => each[1]), sum((each) => each[2]), sum((each) => each[3])]
  for (const [failures, ran, , all] of outcomes)
    if (failures === true && ran < all)
      yield `${all - ran} of ${all} cases did not end, for a hook or a case threw what uvu does not see`
  if (book.registered + book.skipped.length === 0 && total + skipped === 0) yield 'no case is registered'
  const counts = [
    `${book.registered} cases are registered`,
    `${book.ended.length} were executed`,
    `uvu counts ${total}`,
  ]
  if (new Set([book.registered, book.ended.length, total]).size > 1) yield counts.join(', ')
  else if (passed !== book.ended.filter(({ hasPassed }) => hasPassed).length) yield `uvu counts ${passed} passed`
}

const restoreGlobals = keepGlobals()

async function runFile({ root, file, bail, isPage }: FileOrder): Promise<FileReport> {
  const started = performance.now()
  const path = join(root, file)
  const faults: FileFault[] = []
  restoreGlobals()
  process.env[fileMark] = file
  // Before the file's handles are counted: the browser stays for the next one.
  if (isPage) await (await import('../browser/sharedBrowser.ts')).holdBrowser()
  const cpuBefore = processorTime()
  const [handles, processes] = [openHandles(), runningProcesses()]
  const book = openCaseBook({ file, stopsAtFailure: bail })
  const outcomes = await runQueue(path, file, faults)
  const isWhole = faults.length === 0 && !book.isStopped
  if (!book.isStopped) {
    const left = await leftOpen(handles)
    if (left.length > 0) faults.push(said(`left open at the end: ${left.join(', ')}`))
    for (const command of await leftRunning(processes)) faults.push(said(`left running at the end: ${command}`))
  }
  await nextTurn()
  for (const stray of takeStrays()) faults.push({ title: 'outside of any case', lines: failureText(stray) })
  for (const fault of silentFaults(path, book, outcomes, isWhole)) faults.push(said(fault))
  return {
    passed: book.ended.filter(({ hasPassed }) => hasPassed).length,
    failed: book.ended.flatMap(({ hasPassed, suite, title }) => (hasPassed ? [] : [`${suite}: ${title}`])),
    skipped: book.skipped.length,
    faults,
    cases: book.ended,
    flaky: book.flaky,
    ms: performance.now() - started,
    cpuMs: processorTime() - cpuBefore,
    written: await flushed(),
  }
}

/** Waits until standard output has taken everything; resolves with the number of bytes. */
const flushed = (): Promise<number> =>
  new Promise((resolve) =>
    process.stdout.write('', () => resolve((process.stdout as unknown as { bytesWritten: number }).bytesWritten)),
  )

async function answer(order: FileOrder): Promise<void> {
  process.send?.(await runFile(order))
}

listenForStrays()
watchProcesses()
process.on('message', (order: FileOrder) => {
  answer(order).catch((thrown: unknown) => {
    process.stderr.write(failureText({ during: 'file', thrown }).join('\n'))
    process.exit(1)
  })
})
// Whoever gave the orders is gone, or needs nothing more; what a file left open would hold the process.
process.on('disconnect', () => {
  killRunning()
  process.exit()
})
