import { danglingPercent, type Row } from '../compare.ts'

const percent = (part: number, whole: number): string => ((100 * part) / Math.max(1, whole)).toFixed(1)
const thousands = (tokens: number): string => `${(tokens / 1000).toFixed(1)}k`

/** The columns of the table, with what each shows of a row. */
const columns: readonly (readonly [heading: string, cell: (row: Row) => string])[] = [
  ['policy', ({ policy }) => policy],
  ['requests', ({ measures }) => String(measures.requests)],
  ['peak', ({ measures }) => thousands(measures.peak)],
  ['peak ×', ({ peakX }) => peakX.toFixed(3)],
  ['mean', ({ measures }) => thousands(measures.input / Math.max(1, measures.requests))],
  ['cost ×', ({ costX }) => costX.toFixed(3)],
  ['cached %', ({ measures }) => percent(measures.cached, measures.input)],
  ['dangling %', ({ measures }) => danglingPercent(measures).toFixed(2)],
  ['index only %', ({ measures }) => ((100 * measures.indexOnly) / Math.max(1, measures.met)).toFixed(2)],
  ['with recalls ×', ({ recalls }) => (recalls === null ? '–' : recallsOf(recalls))],
  ['asked', ({ measures: { asked }, askedShare }) => askedOf(asked.requests, askedShare)],
  ['prefix breaks', ({ measures }) => breaksOf(measures.breaks)],
  ['invalid', ({ measures }) => String(measures.invalid)],
  ['users lost', ({ measures }) => String(measures.usersLost)],
]

const recallsOf = ({ costX, asked, danglingPercent: left }: NonNullable<Row['recalls']>): string =>
  `${costX.toFixed(3)} (${asked}, ${left.toFixed(2)} % left)`

const askedOf = (requests: number, share: number): string =>
  requests === 0 ? '–' : `${requests} (${(100 * share).toFixed(1)} %)`

const breaksOf = (breaks: Readonly<Record<string, number>>): string =>
  Object.entries(breaks)
    .map(([cause, count]) => `${count} ${cause}`)
    .join(', ') || '0'

/** The rows as a table in Markdown, aligned so that it reads as text too. */
export const markdownTable = (rows: readonly Row[]): string =>
  aligned([columns.map(([heading]) => heading), ...rows.map((row) => columns.map(([, cell]) => cell(row)))])

/** The cost of each row by each provider's prices. */
export function priceTable(rows: readonly Row[]): string {
  const names = Object.keys(rows[0]?.costs ?? {})
  return aligned([
    ['policy', ...names],
    ...rows.map(({ policy, costs }) => [policy, ...names.map((name) => costs[name]!.toFixed(3))]),
  ])
}

/** A table in Markdown whose columns have the same width in each line; the first line is the heading. */
export function aligned([head = [], ...lines]: readonly (readonly string[])[]): string {
  const widths = head.map((heading, index) => Math.max(3, heading.length, ...lines.map((line) => line[index]!.length)))
  const isText = (index: number): boolean => index === 0 || head[index] === 'prefix breaks'
  const lineOf = (line: readonly string[]): string =>
    `| ${line.map((cell, index) => (isText(index) ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!))).join(' | ')} |`
  const rule = widths.map((width, index) => (isText(index) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [lineOf(head), lineOf(rule), ...lines.map(lineOf)].join('\n')
}

/** Remarks on facts that the rows' numbers do not show: replays that ended early, and refused requests. */
export function remarks(rows: readonly Row[]): string[] {
  return rows.flatMap(({ policy, measures: { failure, refused, ownReplies } }) => [
    ...(failure === undefined ? [] : [`${policy}: the replay ended early: ${failure}`]),
    ...(refused === 0 ? [] : [`${policy}: ${refused} of what it asked for was refused`]),
    ...(ownReplies === 0 ? [] : [`${policy}: ${ownReplies} replies were its own`]),
  ])
}
