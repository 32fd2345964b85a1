import { escapeXml } from '../../../../charts/src/escapeText.ts'
import { measures, percent, type Measure } from '../measures.ts'
import type { ArmReport, Report } from '../report.ts'
import { sameInAll } from '../../statistics/figure.ts'
import { figureWords, usd } from '../words.ts'
import { amountScale, shareScale } from './scale.ts'
import { whiskerChart, type WhiskerChart, type WhiskerRow } from './whiskers.ts'

/** Renders the measures of every arm. Pure. */
export function figuresSection(report: Report): string {
  const { arms, trials } = report
  const rows = (figureOf: (arm: ArmReport) => WhiskerRow['figure']): WhiskerRow[] =>
    arms.map((arm, index) => ({
      name: arm.name,
      figure: figureOf(arm),
      ...(index === 0 ? { tone: 'quiet' as const } : {}),
    }))
  const passes = [
    { title: 'pass@1', about: 'how often a trial passes', of: (arm: ArmReport) => arm.passAt1 },
    ...Array.from({ length: Math.max(0, trials - 1) }, (_, index) => ({
      title: `pass^${index + 2}`,
      about: `how often ${index + 2} trials of a task all pass`,
      of: (arm: ArmReport) => arm.passHatK[index]!.figure,
    })),
  ]
  // Between the first and the last, pass^k only falls.
  const shown = passes.filter((_, index) => index === 0 || index === passes.length - 1)
  const charts: WhiskerChart[] = [
    ...shown.map(({ title, about, of }) => ({ title, about, rows: rows(of), scale: shareScale, write: percent })),
    amountsChart(
      'cost per pass',
      'failed trials paid for',
      rows((arm) => arm.costPerPass),
      usd,
    ),
    ...measures
      .filter((measure) => !isAlike(arms, measure))
      .map(({ name, label, most, write }) => {
        const given = rows((arm) => arm.measures[name])
        return most === 1
          ? { title: label, about: 'mean of tasks', rows: given, scale: shareScale, write }
          : amountsChart(label, 'mean of tasks', given, write)
      }),
  ].filter((chart) => chart.rows.some(({ figure }) => figure.value !== null))
  const alike = measures.filter((measure) => isAlike(arms, measure))
  const more = passes.length > 2 ? passKTable(report) : ''
  const models = arms.map(
    ({ name, model, answeredBy }) =>
      `<li><b>${escapeXml(name)}</b> ${escapeXml(model)}${answeredBy.length === 0 || (answeredBy.length === 1 && answeredBy[0] === model) ? '' : ` <small>answered as ${escapeXml(answeredBy.join(', '))}</small>`}</li>`,
  )
  return `<section aria-labelledby="figures"><h2 id="figures">Arms</h2>
<ul class="models">${models.join('')}</ul>
<div class="charts">${charts.map(whiskerChart).join('')}</div>
${alike.length === 0 ? '' : `<p class="fine">The same in all arms and tasks: ${escapeXml(alike.map(({ name, label, write }) => `${label} ${write(arms[0]!.measures[name].value!)}`).join(', '))}.</p>`}${more}</section>`
}

const amountsChart = (
  title: string,
  about: string,
  rows: readonly WhiskerRow[],
  write: (value: number) => string,
): WhiskerChart => ({ title, about, rows, scale: amountScale(rows.map(({ figure }) => figure)), write })

function passKTable({ arms, trials }: Report): string {
  const ks = Array.from({ length: trials - 1 }, (_, index) => index)
  const head = `<tr><th scope="col">arm</th><th scope="col">pass@1</th>${ks.map((index) => `<th scope="col">pass^${index + 2}</th>`).join('')}</tr>`
  const body = arms.map(
    ({ name, passAt1, passHatK }) =>
      `<tr><th scope="row">${escapeXml(name)}</th>${[passAt1, ...passHatK.map(({ figure }) => figure)].map((figure) => `<td>${escapeXml(figureWords(figure, percent))}</td>`).join('')}</tr>`,
  )
  return `<details class="all-k"><summary>pass^k for every k</summary><div class="scroll" tabindex="0" role="region" aria-label="pass^k for every k"><table>${head}${body.join('')}</table></div></details>`
}

/** Returns true if a measure is the same in all arms, so that a chart would show no difference. */
const isAlike = (arms: readonly ArmReport[], { name }: Measure): boolean =>
  arms.every(
    ({ measures: { [name]: figure } }) => figure.why === sameInAll && figure.value === arms[0]!.measures[name].value,
  )
