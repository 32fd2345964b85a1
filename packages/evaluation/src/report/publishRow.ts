import { counted } from '../../../charts/src/amounts.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { cellText } from './markdownReport.ts'
import { percent } from './measures.ts'
import type { ArmReport, Comparison, Report } from './report.ts'
import { isEmbedded } from './warningsOf.ts'
import { figureWords, pWords, times, usd } from './words.ts'

/** The columns of the table of live figures in `docs/evidence.md`. */
export const liveColumns = [
  'model',
  'date',
  'versions',
  'suite',
  'arm',
  'tasks × trials',
  'pass@1',
  'pass^k',
  'against the baseline',
  'cost ×',
  'p (passes, cost)',
  'cost',
  'seed',
] as const

/** Text in the table while it has no rows. */
export const noLiveFigures = '*none has been run yet*'

const cells = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())

const isHeader = (line: string): boolean => {
  const found = cells(line)
  return found.length === liveColumns.length && liveColumns.every((name, index) => found[index] === name)
}

/**
 * Returns the page of evidence with the figures of this evaluation in its table of live figures: a row for each arm. Rows of the same suite (by name
 * and digest), model, date and arm are replaced. Pure.
 *
 * @throws RuntimeError `EVALUATION_UNPUBLISHED` if the page has no such table, the evaluation is not complete, or no live model answered.
 */
export function publishRow(report: Report, evidence: string): string {
  refuse(report)
  const lines = evidence.split('\n')
  const header = lines.findIndex(isHeader)
  if (header === -1 || !/^\|[\s:|-]+\|$/.test(lines[header + 1]?.trim() ?? ''))
    throw unpublished(`The page has no table with the columns ${liveColumns.join(' | ')}.`)
  let end = header + 2
  while (lines[end]?.trim().startsWith('|') === true) end += 1
  const rows = report.arms.map((arm) => rowOf(report, arm))
  const replaced = new Set(rows.map(keyOf))
  const kept = lines
    .slice(header + 2, end)
    .filter((line) => !line.includes(noLiveFigures) && !replaced.has(keyOf(cells(line))))
  const written = rows.map((row) => `| ${row.join(' | ')} |`)
  return [...lines.slice(0, header + 2), ...kept, ...written, ...lines.slice(end)].join('\n')
}

const unpublished = (message: string): RuntimeError => new RuntimeError('EVALUATION_UNPUBLISHED', message)

function refuse({ arms, progress, tasks, warnings }: Report): void {
  const { planned, errors, missing, isComplete } = progress
  if (planned === 0) throw unpublished('The evaluation has no trials.')
  if (!isComplete)
    throw unpublished(
      `The evaluation is not complete: of ${counted(planned, 'trial')} ${missing} are missing and ${errors} ended with errors. Resume it first.`,
    )
  const embedded = arms.filter(isEmbedded)
  if (embedded.length > 0)
    throw unpublished(
      `Embedded models solve and fail on purpose, so their figures are no evidence: ${embedded.map(({ name, model }) => `${name} (${model})`).join(', ')}.`,
    )
  const free = tasks.filter(({ passesWithoutWork }) => passesWithoutWork)
  if (free.length > 0)
    throw unpublished(
      `Tasks that pass before an agent does anything are no evidence: ${free.map(({ id }) => id).join(', ')}.`,
    )
  const replayed = warnings.find(({ code }) => code === 'REPLAY_DIFFERS')
  if (replayed !== undefined) throw unpublished(replayed.text)
}

/** Returns the key of a row: rows with the same model, date, suite and arm replace each other. */
const keyOf = (row: readonly string[]): string => JSON.stringify([row[0], row[1], row[3], row[4]])

function rowOf(report: Report, arm: ArmReport): string[] {
  const { suite, versions, tasks, trials, seed, startedAt } = report
  const comparison = report.comparisons.find(({ arm: name }) => name === arm.name)
  const last = arm.passHatK.at(-1)
  const others = arm.answeredBy.filter((id) => id !== arm.model)
  return [
    cellText(others.length === 0 ? arm.model : `${arm.model} (${others.join(', ')})`),
    new Date(startedAt).toISOString().slice(0, 10),
    `escapement ${cellText(versions.escapement)}, Node ${cellText(versions.node)}`,
    `${cellText(suite.name)} ${suite.digest.slice(0, 12)}`,
    cellText(arm.name),
    `${tasks.length} × ${trials}`,
    figureWords(arm.passAt1, percent),
    last === undefined ? '–' : `k = ${last.k}: ${figureWords(last.figure, percent)}`,
    comparison === undefined ? 'baseline' : cellText(comparison.passes.words.split(/, p [=<]/)[0]!),
    comparison === undefined ? '1' : figureWords(comparison.cost.ratio, times),
    comparison === undefined ? '–' : testsOf(comparison),
    arm.totalUsd === null ? 'not priced' : usd(arm.totalUsd),
    String(seed),
  ]
}

const testsOf = ({ passes, cost }: Comparison): string =>
  [passes, cost].map(({ adjusted }) => (adjusted === null ? '–' : pWords(adjusted).replace(/^p (= )?/, ''))).join(', ')
