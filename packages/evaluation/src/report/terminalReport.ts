import { counted } from '../../../charts/src/amounts.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import { fitted, textWidth } from '../../../charts/src/textWidth.ts'
import type { Figure } from '../statistics/figure.ts'
import { measures, percent } from './measures.ts'
import type { ArmReport, Comparison, Report, TaskReport, Verdict } from './report.ts'
import { figureWords, usd } from './words.ts'

type Paint = (text: string) => string

/** Functions for emphasis at a terminal; `Colours` of the command line fits. */
export interface TerminalStyle {
  readonly bold: Paint
  readonly dim: Paint
  readonly green: Paint
  readonly red: Paint
  readonly yellow: Paint
}

const same: Paint = (text) => text
const noStyle: TerminalStyle = { bold: same, dim: same, green: same, red: same, yellow: same }

export interface TerminalOptions {
  /** Style of the text. Default: none. */
  readonly style?: TerminalStyle
  /** Width of the text in columns, at least 60; default 80. */
  readonly width?: number
}

/** Maximum number of listed tasks. */
const mostTasks = 40
const gap = 2

/** Returns a report as text for a terminal, with lines of limited width. Pure. */
export function terminalReport(report: Report, { style = noStyle, width = 80 }: TerminalOptions = {}): string {
  const columns = Math.max(60, width)
  const parts = [
    headLines(report, style, columns),
    ...armBlocks(report, style, columns),
    report.comparisons.flatMap((comparison) => comparisonLines(comparison, style, columns)),
    taskLines(report, style, columns),
    judgeLines(report, columns),
    report.warnings.flatMap(({ text }) => wrapped(text, columns, '! ', '  ').map(style.yellow)),
  ]
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function headLines(
  { suite, tasks, arms, trials, seed, costUsd, progress }: Report,
  style: TerminalStyle,
  columns: number,
): string[] {
  const { planned, passed, failed, errors, missing } = progress
  const plan = `${counted(tasks.length, 'task')} × ${counted(arms.length, 'arm')} × ${counted(trials, 'trial')}, seed ${seed}${costUsd === null ? '' : `, ${usd(costUsd)}`}`
  const rest = [errors === 0 ? '' : `, ${counted(errors, 'error')}`, missing === 0 ? '' : `, ${missing} missing`].join(
    '',
  )
  return [
    style.bold(fitted(`Suite ${oneLine(suite.name)}`, columns)),
    ...wrapped(plan, columns),
    ...wrapped(`${counted(planned, 'trial')}: ${passed} passed, ${failed} failed${rest}`, columns),
  ]
}

interface Row {
  readonly label: string
  figureOf(arm: ArmReport): Figure
  write(value: number): string
}

function rowsOf({ arms, trials }: Report): Row[] {
  const row = (label: string, figureOf: Row['figureOf'], write: Row['write']): Row => ({ label, figureOf, write })
  const all = (arm: ArmReport, k: number): Figure => arm.passHatK[k - 2]!.figure
  const shown = measures.filter(({ name }) => arms.some((arm) => (arm.measures[name].value ?? 0) !== 0))
  return [
    row('pass@1', ({ passAt1 }) => passAt1, percent),
    ...(trials > 1 ? [row(`pass^${trials}`, (arm) => all(arm, trials), percent)] : []),
    row('cost per pass', ({ costPerPass }) => costPerPass, usd),
    ...shown.map(({ name, short, write }) => row(short, (arm) => arm.measures[name], write)),
  ].filter(({ figureOf }) => arms.some((arm) => figureOf(arm).value !== null))
}

/** Returns tables with as many arms as fit side by side. */
function armBlocks(report: Report, style: TerminalStyle, columns: number): string[][] {
  const rows = rowsOf(report)
  const labels = Math.max(...rows.map(({ label }) => label.length), 'mean (95 %)'.length)
  const most = columns - labels - gap
  const cells = report.arms.map((arm) => rows.map(({ figureOf, write }) => figureWords(figureOf(arm), write)))
  const widths = report.arms.map(({ name }, index) =>
    Math.min(most, Math.max(Math.min(24, textWidth(oneLine(name))), ...cells[index]!.map(textWidth))),
  )
  const blocks: number[][] = []
  let room = 0
  widths.forEach((cellWidth, index) => {
    if (cellWidth + gap > room) {
      blocks.push([])
      room = columns - labels
    }
    blocks.at(-1)!.push(index)
    room -= cellWidth + gap
  })
  const line = (label: string, texts: readonly string[], block: readonly number[]): string =>
    [padded(label, labels), ...texts.map((text, index) => padded(text, widths[block[index]!]!))]
      .join(' '.repeat(gap))
      .trimEnd()
  return blocks.map((block) => [
    style.bold(
      line(
        'mean (95 %)',
        block.map((index) => fitted(oneLine(report.arms[index]!.name), widths[index]!)),
        block,
      ),
    ),
    ...rows.map(({ label }, row) =>
      line(
        label,
        block.map((index) => cells[index]![row]!),
        block,
      ),
    ),
  ])
}

const paintOf = (verdict: Verdict, isGood: 'more' | 'less', style: TerminalStyle): Paint =>
  verdict === 'none' || verdict === 'unknown' ? style.dim : verdict === isGood ? style.green : style.red

function comparisonLines({ arm, baseline, passes, cost }: Comparison, style: TerminalStyle, columns: number): string[] {
  const { pairs, onlyArm, onlyBaseline } = passes
  const seen = `${counted(pairs, 'pair')}: only this arm passed ${onlyArm}, only the baseline ${onlyBaseline}`
  return [
    style.bold(fitted(`${oneLine(arm)} against ${oneLine(baseline)}`, columns)),
    ...wrapped(passes.words, columns, '  ').map(paintOf(passes.verdict, 'more', style)),
    ...wrapped(seen, columns, '    ').map(style.dim),
    ...wrapped(cost.words, columns, '  ').map(paintOf(cost.verdict, 'less', style)),
  ]
}

const cellWords = ({ passed, failed, errors }: TaskReport['cells'][number]): string =>
  passed + failed + errors === 0 ? '–' : `${passed}/${passed + failed}${errors === 0 ? '' : `!${errors}`}`

/** Lists the passed trials of each task, by arm. Of many tasks, lists those in which the arms differ most. */
function taskLines({ arms, tasks }: Report, style: TerminalStyle, columns: number): string[] {
  const spread = ({ cells }: TaskReport): number => {
    const shares = cells.flatMap(({ share }) => share.value ?? [])
    return shares.length === 0 ? 0 : Math.max(...shares) - Math.min(...shares)
  }
  const shown = tasks.length <= mostTasks ? tasks : tasks.toSorted((a, b) => spread(b) - spread(a)).slice(0, mostTasks)
  if (shown.length === 0) return []
  const names = Math.min(28, Math.max(4, ...shown.map(({ id }) => textWidth(oneLine(id)) + 2)))
  const each = Math.floor((columns - names) / arms.length) - gap
  // Arms that find no place are in the other reports.
  const isNarrow = each < 5
  const widths = arms.map(({ name }) => (isNarrow ? 5 : Math.min(each, Math.max(5, textWidth(oneLine(name))))))
  const fit = isNarrow ? Math.floor((columns - names) / (5 + gap)) : arms.length
  const line = (label: string, texts: readonly string[]): string =>
    [padded(label, names), ...texts.slice(0, fit).map((text, index) => padded(text, widths[index]!))]
      .join(' '.repeat(gap))
      .trimEnd()
  const marked = (id: string, isFree: boolean): string => `${fitted(oneLine(id), names - 2)}${isFree ? ' *' : ''}`
  const left = tasks.length - shown.length
  return [
    style.bold(
      line(
        'task',
        arms.map(({ name }, index) => fitted(oneLine(name), widths[index]!)),
      ),
    ),
    ...shown.map(({ id, passesWithoutWork, cells }) => line(marked(id, passesWithoutWork), cells.map(cellWords))),
    ...(left === 0 ? [] : [style.dim(`${counted(left, 'more task')}, in which the arms differ less`)]),
    ...(fit < arms.length ? [style.dim(counted(arms.length - fit, 'more arm'))] : []),
  ]
}

function judgeLines({ judge }: Report, columns: number): string[] {
  if (judge === null) return []
  const said = [
    ...(judge.people === null ? [] : [['people', judge.people] as const]),
    ['the other checks', judge.checks] as const,
  ]
  return said.flatMap(([who, { agreement, kappa }]) => {
    const name = `Judge ${oneLine(judge.model)}`
    if (agreement.value === null)
      return wrapped(`${name}: whether it agrees with ${who} is not known: ${agreement.why}.`, columns)
    const beyond =
      kappa.value === null
        ? `kappa is not known: ${kappa.why}`
        : `kappa ${figureWords(kappa, (value) => value.toFixed(2))}`
    return wrapped(
      `${name}: agrees with ${who} in ${figureWords(agreement, percent)} of ${counted(agreement.trials, 'answer')}, ${beyond}.`,
      columns,
    )
  })
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)))

/** Wraps a text at words; a word longer than a line is cut. */
function wrapped(text: string, width: number, first = '', rest = first): string[] {
  const lines: string[] = []
  let line = first
  for (const word of oneLine(text).split(/\s+/)) {
    const isAtStart = line === first || line === rest
    if (!isAtStart && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line)
      line = rest
    }
    line += line === first || line === rest ? word : ` ${word}`
  }
  return [...lines, line].map((each) => fitted(each, width))
}
