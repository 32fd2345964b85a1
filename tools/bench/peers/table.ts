import type { CellResult } from './cell.ts'
import type { Row } from './workload.ts'

/** Summary of one figure over the rounds of one cell. */
export interface Summary {
  /** `null`: it never came to an end, in most of the rounds. */
  readonly median: number | null
  /** (max − min) / median. */
  readonly spread: number
}

/** By contender. */
export type Line = Readonly<Record<string, Summary>>

/** The middle one, or the mean of the two in the middle; of nothing `NaN`. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!
}

/** Median and spread of a figure's rounds. */
export function summaryOf(values: readonly (number | null)[]): Summary {
  const numbers = values.filter((value) => value !== null)
  if (numbers.length * 2 <= values.length) return { median: null, spread: 0 }
  const median = medianOf(numbers)
  return { median, spread: median === 0 ? 0 : (Math.max(...numbers) - Math.min(...numbers)) / Math.abs(median) }
}

/** One figure of all contenders. */
export function lineOf(results: readonly CellResult[], workload: string, figure: string): Line {
  const values = new Map<string, (number | null)[]>()
  for (const result of results) {
    const value = result.figures[figure]
    if (result.workload !== workload || value === undefined) continue
    const of = values.get(result.contender) ?? []
    of.push(value)
    values.set(result.contender, of)
  }
  return Object.fromEntries([...values].map(([contender, of]) => [contender, summaryOf(of)]))
}

/** `of` / `to`; `undefined` where either has no number. */
export function ratioOf(line: Line, of: string, to: string): number | undefined {
  const [dividend, divisor] = [line[of]?.median, line[to]?.median]
  if (dividend == null || divisor == null || divisor === 0) return undefined
  return dividend / divisor
}

/** Three digits that count, and no more behind the point than two. */
export function format(value: number): string {
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}

const formatRatio = (ratio: number | undefined): string => (ratio === undefined ? '–' : format(ratio))

const formatMedian = (summary: Summary | undefined): string =>
  summary === undefined ? '–' : summary.median === null ? 'never' : format(summary.median)

/** Whom the ratios of a table are to. */
const bases = [
  { name: 'pi', head: '÷ pi' },
  { name: 'piBefore', head: '÷ former pi' },
  { name: 'floor', head: '÷ floor' },
] as const

/** Names of contenders as they are printed, in the order of the table. */
export type Labels = Readonly<Record<string, string>>

const basesAmong = (labels: Labels) => bases.filter(({ name }) => name in labels)

/** A figure for people at a terminal: a line each contender. */
export function textTable(row: Row, line: Line, labels: Labels): string {
  const names = Object.keys(labels).filter((name) => line[name] !== undefined)
  const among = basesAmong(labels)
  const cells = [
    ['', row.unit, ...among.map(({ head }) => head), 'spread'],
    ...names.map((name) => [
      labels[name]!,
      formatMedian(line[name]),
      ...among.map((base) => formatRatio(ratioOf(line, name, base.name))),
      `${Math.round(line[name]!.spread * 100)} %`,
    ]),
  ]
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((each) => each[column]!.length)))
  const lines = cells.map((each) =>
    each.map((text, column) => (column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]!))).join('  '),
  )
  return [row.title, ...lines.map((each) => `  ${each}`)].join('\n')
}

/** A figure of the table, with all contenders. */
export interface TableRow {
  readonly row: Row
  readonly line: Line
}

/** The same figures as a Markdown table: a row each figure, with our own ratios. */
export function markdownTable(rows: readonly TableRow[], labels: Labels): string {
  const names = Object.keys(labels)
  const among = 'escapement' in labels ? basesAmong(labels) : []
  const head = ['', ...names.map((name) => labels[name]!), ...among.map((base) => base.head)]
  const align = ['---', ...head.slice(1).map(() => '---:')]
  const body = rows.map(({ row, line }) => [
    `${row.title}, ${row.unit}`,
    ...names.map((name) => formatMedian(line[name])),
    ...among.map((base) => formatRatio(ratioOf(line, 'escapement', base.name))),
  ])
  return [head, align, ...body].map((each) => `| ${each.join(' | ')} |`).join('\n')
}

/** How far the rounds of a cell lie apart: in half of the cells, and in nine of ten. */
export function spreadText(rows: readonly TableRow[]): string {
  const spreads = rows
    .flatMap(({ line }) => Object.values(line).flatMap(({ median, spread }) => (median === null ? [] : [spread])))
    .toSorted((a, b) => a - b)
  const percent = (share: number): string => `${Math.round((spreads[Math.floor(spreads.length * share)] ?? 0) * 100)} %`
  return `(max − min) ÷ median of a cell's rounds: ${percent(0.5)} in half of the cells, ${percent(0.9)} in nine of ten.`
}
