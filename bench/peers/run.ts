/**
 * escapement beside its peers on the same work. Every cell runs in a process of its own, pinned to one core where `taskset` exists;
 * rounds are interleaved, so that what the machine does besides falls on everybody alike.
 *
 *   npm ci --prefix bench/peers && npm run build
 *   node bench/peers/run.ts [--rounds 5] [--only turn,delta] [--contenders escapement,pi,floor] [--warmup short|long|both]
 *                           [--core 1] [--json FILE] [--markdown]
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import type { CellResult } from './cell.ts'
import { contenders, missing, versionOf, type ContenderName } from './contenders.ts'
import { readRunOptions, type RunOptions } from './options.ts'
import { lineOf, markdownTable, textTable } from './table.ts'
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

async function main(options: RunOptions): Promise<boolean> {
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
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, undefined, 1)}\n`)
  await print(options, results)
  for (const failure of failures) console.error(`FAILED ${failure}\n`)
  return failures.length === 0
}

async function print({ warmUps, workloads, contenders: names, isMarkdown, rounds }: RunOptions, results: CellResult[]) {
  const labels: Record<string, string> = {}
  for (const name of names) labels[name] = `${contenders[name].label} ${await versionOf(name)}`.trim()
  console.log(`Node ${process.versions.node}, ${cpus()[0]?.model ?? 'unknown processor'}, ${rounds} rounds\n`)
  for (const warmUp of warmUps) {
    const of = results.filter((result) => result.warmUp === warmUp)
    const rows = workloads.flatMap((workload) =>
      rowsOf(workload).map((row) => ({ row, line: lineOf(of, workload.name, row.figure) })),
    )
    console.log(`after a ${warmUp} warm-up:\n`)
    if (isMarkdown) console.log(`${markdownTable(rows, labels)}\n`)
    else for (const { row, line } of rows) console.log(`${textTable(row, line, labels)}\n`)
  }
}

try {
  const options = readRunOptions(process.argv.slice(2))
  const lacking = missing(options.contenders)
  if (lacking.length > 0) throw new Error(`Not installed: ${lacking.join(', ')}. Run: npm ci --prefix bench/peers`)
  process.exitCode = (await main(options)) ? 0 : 1
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown)
  process.exitCode = 2
}
