/**
 * escapement beside its peers on the same work. Every cell runs in a process of its own, pinned to one core where `taskset` exists;
 * rounds are interleaved, so that what the machine does besides falls on everybody alike.
 *
 *   npm ci --prefix tools/bench/peers && npm run build
 *   node tools/bench/peers/run.ts [--rounds 5] [--only turn,delta] [--contenders escapement,pi,floor] [--warmup short|long|both]
 *                           [--core 1] [--json FILE] [--from FILE] [--markdown]
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import type { CellResult } from './cell.ts'
import { contenders, missing, versionOf, type ContenderName } from './contenders.ts'
import { readRunOptions, type RunOptions } from './options.ts'
import { lineOf, markdownTable, spreadText, textTable, type Labels } from './table.ts'
import { rowsOf, type Workload } from './workload.ts'

/** A cell that takes longer is given up. */
const cellLimitMs = 300_000

interface Cell {
  readonly contender: ContenderName
  readonly workload: Workload
  readonly warmUp: string
}

/** All cells of a round; each round begins with another contender. */
function cellsOf(options: RunOptions, round: number): Cell[] {
  const { contenders: names } = options
  const order = names.map((_, index) => names[(index + round) % names.length]!)
  return options.warmUps.flatMap((warmUp) =>
    options.workloads.flatMap((workload) =>
      order
        .filter((contender) => workload.only?.includes(contender) ?? true)
        .map((contender) => ({ contender, workload, warmUp })),
    ),
  )
}

const hasTaskset = spawnSync('taskset', ['--version']).status === 0

function measure({ contender, workload, warmUp }: Cell, core: number): CellResult | string {
  const cell = [process.execPath, '--expose-gc', join(import.meta.dirname, 'cell.ts'), contender, workload.name, warmUp]
  const [command, ...args] = hasTaskset ? ['taskset', '-c', String(core), ...cell] : cell
  const { stdout, stderr, status, signal } = spawnSync(command!, args, { encoding: 'utf8', timeout: cellLimitMs })
  if (status !== 0) return signal === null ? stderr.trim() : `took longer than ${cellLimitMs / 1_000} s`
  return JSON.parse(stdout) as CellResult
}

/** Results of a run, with all that is needed to print a table. */
interface Report {
  readonly node: string
  readonly processor: string
  readonly rounds: number
  readonly labels: Labels
  readonly results: readonly CellResult[]
  readonly failures: readonly string[]
}

async function measureAll(options: RunOptions): Promise<Report> {
  const core = options.core ?? availableParallelism() - 1
  const [results, failures]: [CellResult[], string[]] = [[], []]
  for (let round = 0; round < options.rounds; round += 1) {
    for (const cell of cellsOf(options, round)) {
      const name = `${cell.workload.name} (${cell.warmUp}), ${cell.contender}`
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[Kround ${round + 1} of ${options.rounds}: ${name}`)
      const result = measure(cell, core)
      if (typeof result === 'string') failures.push(`${name}: ${result}`)
      else results.push(result)
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  const labels: Record<string, string> = {}
  for (const name of options.contenders) labels[name] = `${contenders[name].label} ${await versionOf(name)}`.trim()
  const processor = cpus()[0]?.model ?? 'unknown processor'
  return { node: process.versions.node, processor, rounds: options.rounds, labels, results, failures }
}

function print({ warmUps, workloads, isMarkdown }: RunOptions, report: Report): void {
  const rounds = `${report.rounds} round${report.rounds === 1 ? '' : 's'}`
  console.log(`Node ${report.node}, ${report.processor.trim()}, ${rounds}.`)
  for (const warmUp of warmUps) {
    const results = report.results.filter((result) => result.warmUp === warmUp)
    const rows = workloads
      .flatMap((workload) => rowsOf(workload).map((row) => ({ row, line: lineOf(results, workload.name, row.figure) })))
      .filter(({ line }) => Object.keys(line).length > 0)
    if (rows.length === 0) continue
    const spread = report.rounds === 1 ? '' : ` ${spreadText(rows)}`
    console.log(`\nAfter a ${warmUp} warm-up.${spread}\n`)
    if (isMarkdown) console.log(markdownTable(rows, report.labels))
    else console.log(rows.map(({ row, line }) => textTable(row, line, report.labels)).join('\n\n'))
  }
}

async function reportOf(options: RunOptions): Promise<Report> {
  if (options.from !== undefined) return JSON.parse(readFileSync(options.from, 'utf8')) as Report
  const lacking = missing(options.contenders)
  if (lacking.length > 0)
    throw new Error(`Not installed: ${lacking.join(', ')}. Run: npm ci --prefix tools/bench/peers`)
  return measureAll(options)
}

try {
  const options = readRunOptions(process.argv.slice(2))
  const report = await reportOf(options)
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, undefined, 1)}\n`)
  print(options, report)
  for (const failure of report.failures) console.error(`\nFAILED ${failure}`)
  process.exitCode = report.failures.length === 0 ? 0 : 1
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown)
  process.exitCode = 2
}
