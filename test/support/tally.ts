import type { FlakyCase } from './flakyCases.ts'
import { asFull, isFull } from './testFiles.ts'
import { timeoutFactor } from './deadline.ts'
import type { FileEnd } from './workers.ts'

/** The most that a file of `npm test` may cost, in milliseconds of processor time with that of the processes it starts. */
export const mostCpuMs = 8_000

/** The outcome of all files so far. */
export class Tally {
  passed = 0
  failed = 0
  skipped = 0
  files = 0
  /** A file's failures, as `file > suite: title`. */
  readonly failures = new Map<string, string[]>()
  readonly flaky: FlakyCase[] = []
  /** Milliseconds, by file. */
  readonly ms: Record<string, number> = {}
  /** Milliseconds of processor time, by file. */
  readonly cpuMs: Record<string, number> = {}

  /** Records a fault of a file. */
  fail(file: string, title: string): void {
    this.failed += 1
    this.failures.set(file, [...(this.failures.get(file) ?? []), title])
  }

  /** Records the end of a file; returns the lines that report it. */
  take(file: string, end: FileEnd, { allSeeds, verbose }: TakeOptions): readonly string[] {
    this.files += 1
    const { report, output } = end
    if (report === undefined) {
      const why =
        end.lateAfter === undefined
          ? 'the process ended before the tests did'
          : `it was ended, as it took longer than ${end.lateAfter} s`
      this.fail(file, why)
      return [`✗ ${file}  ${why}`, indented(output)]
    }
    const { passed, failed, skipped, cases, ms, cpuMs } = report
    const faults = [...report.faults, ...(allSeeds ? [] : dearFault(file, cpuMs))]
    this.passed += passed
    this.skipped += skipped
    this.ms[file] = ms
    this.cpuMs[file] = cpuMs
    this.flaky.push(...report.flaky.map((each) => ({ file, ...each })))
    for (const title of failed) this.fail(file, title)
    for (const { title, lines } of faults) this.fail(file, `${title}: ${lines[0] ?? ''}`)
    const bad = failed.length + faults.length
    const counts = [`${passed} passed`]
    if (bad > 0) counts.push(`${bad} failed`)
    if (skipped > 0) counts.push(`${skipped} skipped`)
    const lines = [`${bad === 0 ? '✓' : '✗'} ${file}  ${counts.join(', ')}  ${Math.round(ms)} ms`]
    if (verbose)
      for (const each of cases)
        lines.push(`  ${each.hasPassed ? '✓' : '✗'} ${each.suite}: ${each.title}  ${Math.round(each.ms)} ms`)
    if (bad > 0) lines.push('', indented(output.trimEnd()))
    for (const fault of faults) lines.push('', `  FAILED ${fault.title}`, ...fault.lines.map((line) => `    ${line}`))
    return lines
  }

  /** The last lines of the run. */
  *closing(): Generator<string> {
    for (const { file, title, lines } of this.flaky) {
      yield `FLAKY ${file} > ${title}: it failed, and passed when it was tried again`
      for (const line of lines) yield `    ${line}`
    }
    for (const [file, titles] of this.failures) {
      for (const title of titles) yield `FAILED ${file} > ${title}`
      if (file.endsWith('.test.ts')) yield `  alone: npm test -- ${file}`
    }
    yield `${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped`
  }

  /** Yields the files that took most processor time, the most expensive first. */
  *dearest(count: number): Generator<string> {
    const files = Object.entries(this.cpuMs).toSorted(([, a], [, b]) => b - a)
    for (const [file, ms] of files.slice(0, count)) yield `${seconds(ms).padStart(6)} s  ${file}`
  }
}

interface TakeOptions {
  /** True if all seeds are tried; a file may then cost more. */
  readonly allSeeds: boolean
  readonly verbose: boolean
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

function dearFault(file: string, cpuMs: number): readonly { title: string; lines: readonly string[] }[] {
  const most = mostCpuMs * timeoutFactor()
  if (isFull(file) || cpuMs <= most) return []
  const line = `it took ${seconds(cpuMs)} s of processor time, and a file of npm test may take ${seconds(most)}: make it cheaper, or call it ${asFull(file)}`
  return [{ title: 'the file itself', lines: [line] }]
}

const mostOutputChars = 20_000
const indented = (output: string): string =>
  output
    .slice(-mostOutputChars)
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')
