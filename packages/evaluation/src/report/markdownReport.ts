import { counted } from '../../../charts/src/amounts.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import type { Figure } from '../statistics/figure.ts'
import { measures, percent } from './measures.ts'
import type { ArmReport, Cell, Comparison, Report } from './report.ts'
import { figureWords, pWords, usd } from './words.ts'

/** Returns a report in Markdown, for a pull request or a page. Pure. */
export function markdownReport(report: Report): string {
  const parts = [
    head(report),
    warnings(report),
    armTable(report),
    comparisonTable(report),
    taskTable(report),
    judge(report),
    method(report),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

const marks = /[\\`*_[\]<>#|~&]/g

/** Converts a text to one line of a table cell or a heading, with Markdown signs escaped. */
export const cellText = (text: string): string => oneLine(text).replace(marks, String.raw`\$&`)

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = header.map((_, index) => (index === 0 ? '---' : '--:'))
  return [row(header), row(line), ...rows.map(row)].join('\n')
}

function head({ suite, tasks, arms, trials, seed, costUsd, versions, startedAt, progress }: Report): string {
  const { passed, failed, errors, missing } = progress
  const said = [
    `${counted(tasks.length, 'task')} × ${counted(arms.length, 'arm')} × ${counted(trials, 'trial')}`,
    `${passed} passed, ${failed} failed, ${counted(errors, 'error')}, ${missing} missing`,
    ...(costUsd === null ? [] : [usd(costUsd)]),
    `seed ${seed}`,
    new Date(startedAt).toISOString().slice(0, 10),
    `escapement ${cellText(versions.escapement)}, Node ${cellText(versions.node)}`,
    `suite ${suite.digest.slice(0, 12)}`,
  ]
  return `# ${cellText(suite.name)}\n\n${said.join(' · ')}`
}

const warnings = ({ warnings: given }: Report): string =>
  given.map(({ text }) => `> **Note:** ${cellText(text)}`).join('\n>\n')

type FigureRow = readonly [label: string, of: (arm: ArmReport) => Figure, write: (value: number) => string]

const figureRows = (trials: number): readonly FigureRow[] => [
  ['pass@1', ({ passAt1 }) => passAt1, percent],
  ...Array.from({ length: Math.max(0, trials - 1) }, (_, index): FigureRow => [
    `pass^${index + 2}`,
    (arm) => arm.passHatK[index]!.figure,
    percent,
  ]),
  ['cost per passed trial', ({ costPerPass }) => costPerPass, usd],
  ...measures.map(({ name, label, write }): FigureRow => [label, (arm) => arm.measures[name], write]),
]

function armTable({ arms, trials }: Report): string {
  const rows = figureRows(trials)
  const isZero = ([, of]: FigureRow): boolean => arms.every((arm) => of(arm).value === 0)
  const nowhere = rows.filter(isZero).map(([label]) => label)
  const lines = rows
    .filter((each) => !isZero(each))
    .map(([label, of, write]) => [label, ...arms.map((arm) => figureWords(of(arm), write))])
  const all = table(
    ['', ...arms.map(({ name }) => cellText(name))],
    [['model', ...arms.map(({ model }) => cellText(model))], ...lines],
  )
  const rest = nowhere.length === 0 ? '' : `\n\n0 in every trial: ${nowhere.join(', ')}.`
  return `## Arms\n\nMeans over tasks, with 95 % intervals. The first arm is the baseline.\n\n${all}${rest}`
}

const testWords = ({ p, adjusted }: Comparison['passes'] | Comparison['cost']): string =>
  p === null || adjusted === null ? '–' : `${pWords(p)}, adjusted ${pWords(adjusted)}`

function comparisonTable({ comparisons }: Report): string {
  if (comparisons.length === 0) return ''
  const rows = comparisons.flatMap(({ arm, passes, cost }) => [
    [
      cellText(arm),
      `${passes.pairs} pairs, ${passes.onlyArm} : ${passes.onlyBaseline}`,
      cellText(passes.words),
      testWords(passes),
    ],
    ['', `${cost.ratio.trials} pairs, ${counted(cost.ratio.tasks, 'task')}`, cellText(cost.words), testWords(cost)],
  ])
  const first = cellText(comparisons[0]!.baseline)
  return `## Against ${first}\n\nPairs are the same trial of the same task; \`a : b\` are those in which only the arm and only the baseline passed. Passes: McNemar's exact test. Costs: ratio of sums, sign-flip permutation over tasks. Verdicts go by p adjusted by Holm for all tests of this report.\n\n${table(['arm', 'pairs', 'verdict', 'p'], rows)}`
}

const cellWords = ({ passed, failed, errors, costUsd }: Cell): string =>
  passed + failed + errors === 0
    ? '–'
    : `${passed} / ${passed + failed}${errors === 0 ? '' : `, ${counted(errors, 'error')}`}${costUsd === null ? '' : `, ${usd(costUsd)}`}`

const taskTable = ({ tasks, arms }: Report): string =>
  `## Tasks\n\nTrials that passed, of those that count, and the mean cost.\n\n${table(
    ['task', ...arms.map(({ name }) => cellText(name))],
    tasks.map(({ id, passesWithoutWork, cells }) => [
      `${cellText(id)}${passesWithoutWork ? ' (passes without work)' : ''}`,
      ...cells.map(cellWords),
    ]),
  )}`

function judge({ judge: given }: Report): string {
  if (given === null) return ''
  const of = (figure: Figure, write: (value: number) => string): string =>
    figure.value === null ? `not known: ${figure.why}` : figureWords(figure, write)
  const rows = [
    ...(given.people === null ? [] : [['people', given.people] as const]),
    ['other required checks', given.checks] as const,
  ]
  const lines = rows.map(([who, { agreement, kappa }]) => [
    who,
    String(agreement.trials),
    of(agreement, percent),
    of(kappa, (value) => value.toFixed(2)),
  ])
  return `## Judge\n\n${cellText(given.model)}\n\n${table(['agrees with', 'answers', 'agreement', "Cohen's kappa"], lines)}`
}

/** Explains dashes and missing intervals. */
function method({ arms, trials }: Report): string {
  const named = new Map<string, Set<string>>()
  for (const arm of arms)
    for (const [label, of] of figureRows(trials)) {
      const { why } = of(arm)
      if (why !== undefined) named.set(why, (named.get(why) ?? new Set()).add(label))
    }
  if (named.size === 0) return ''
  const lines = [...named].map(([why, labels]) => `- ${[...labels].join(', ')}: ${cellText(why)}`)
  return `Where there is a dash, or no interval over tasks:\n\n${lines.join('\n')}`
}
