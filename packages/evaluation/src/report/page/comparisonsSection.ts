import { counted } from '../../../../charts/src/amounts.ts'
import { escapeXml } from '../../../../charts/src/escapeText.ts'
import type { Comparison, Report, Verdict } from '../report.ts'
import { points, pWords, times } from '../words.ts'
import { differenceScale, ratioScale } from './scale.ts'
import { whiskerChart, type WhiskerChart, type WhiskerRow } from './whiskers.ts'

const toneOf = (verdict: Verdict, good: 'more' | 'less'): 'good' | 'bad' | 'quiet' =>
  verdict === 'none' || verdict === 'unknown' ? 'quiet' : verdict === good ? 'good' : 'bad'

const short: Readonly<Record<'passes' | 'cost', Readonly<Record<Verdict, string>>>> = {
  passes: { more: 'Passes more', less: 'Passes less', none: 'No difference shown', unknown: 'Not known' },
  cost: { more: 'Costs more', less: 'Costs less', none: 'No difference shown', unknown: 'Not known' },
}

/** Renders the comparisons with the baseline; empty if there are none. Pure. */
export function comparisonsSection(report: Report): string {
  if (report.comparisons.length === 0) return ''
  const rows = (of: (comparison: Comparison) => WhiskerRow): WhiskerRow[] => report.comparisons.map(of)
  const differences = rows(({ arm, passes }) => ({
    name: arm,
    figure: passes.difference,
    tone: toneOf(passes.verdict, 'more'),
  }))
  const ratios = rows(({ arm, cost }) => ({ name: arm, figure: cost.ratio, tone: toneOf(cost.verdict, 'less') }))
  const baseline = report.comparisons[0]!.baseline
  const charts: WhiskerChart[] = [
    {
      title: 'Passes',
      about: `points more than ${baseline}`,
      rows: differences,
      scale: differenceScale(differences.map(({ figure }) => figure)),
      write: points,
    },
    {
      title: 'Cost',
      about: `relative to ${baseline}`,
      rows: ratios,
      scale: ratioScale(ratios.map(({ figure }) => figure)),
      write: times,
    },
  ]
  const known = charts.filter((chart) => chart.rows.some(({ figure }) => figure.value !== null))
  return `<section aria-labelledby="compared"><h2 id="compared">Against ${escapeXml(baseline)}</h2>
<div class="charts">${known.map(whiskerChart).join('')}</div>
<ul class="verdicts">${report.comparisons.map(verdictCard).join('')}</ul></section>`
}

function verdictCard({ arm, passes, cost }: Comparison): string {
  const tests = ({ p }: Comparison['passes'] | Comparison['cost']): string =>
    p === null ? 'Not tested.' : `By itself ${pWords(p)}.`
  const pairs = `${counted(passes.pairs, 'pair')}: only this arm passed ${passes.onlyArm}, only the baseline ${passes.onlyBaseline}${passes.leftOut === 0 ? '' : `; ${counted(passes.leftOut, 'trial')} without a partner left out`}`
  const verdict = (said: string, tone: string, words: string, more: string): string =>
    `<div class="verdict ${tone}"><p class="said">${said}</p><p>${escapeXml(words.replace(/^[^:]*: /, ''))}</p><p class="fine">${escapeXml(more)}</p></div>`
  return `<li><h3>${escapeXml(arm)}</h3>${verdict(short.passes[passes.verdict], toneOf(passes.verdict, 'more'), passes.words, `${pairs}. ${tests(passes)}`)}${verdict(short.cost[cost.verdict], toneOf(cost.verdict, 'less'), cost.words, `${counted(cost.ratio.tasks, 'task')}. ${tests(cost)}`)}</li>`
}
