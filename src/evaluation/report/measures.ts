import { duration } from '../../charts/amounts.ts'
import type { TrialMetrics } from '../results.ts'
import type { MeasureName } from './report.ts'
import { usd } from './words.ts'

/** How a measure of trials is called, bounded and written. */
export interface Measure {
  readonly name: MeasureName
  readonly label: string
  /** In a column of a terminal. */
  readonly short: string
  readonly most?: number
  /** `null`: of this trial it is not known. */
  valueOf(metrics: TrialMetrics): number | null
  write(value: number): string
}

/** As `12,345` from 100 on, with one digit below. */
export const amount = (value: number): string =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en-US')
    : value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 1 ? 2 : 1 })

/** `41 %`; whole numbers, but for what would be rounded to all or nothing. */
export function percent(share: number): string {
  const isAlmost = (share > 0 && share < 0.005) || (share > 0.995 && share < 1)
  return `${(share * 100).toFixed(isAlmost ? 1 : 0)} %`
}

const counted = (name: MeasureName & keyof TrialMetrics, label: string, short = label): Measure => ({
  name,
  label,
  short,
  valueOf: (metrics) => metrics[name],
  write: amount,
})

/** What is reported of every arm, in this order. */
export const measures: readonly Measure[] = [
  { name: 'costUsd', label: 'cost per trial', short: 'cost', valueOf: ({ costUsd }) => costUsd, write: usd },
  counted('peakTokens', 'largest request, tokens', 'peak'),
  {
    name: 'cachedShare',
    label: 'input from the cache',
    short: 'cached',
    most: 1,
    valueOf: ({ cachedShare }) => cachedShare,
    write: percent,
  },
  counted('turns', 'turns'),
  counted('requests', 'requests'),
  counted('calls', 'calls'),
  counted('failedCalls', 'failed calls', 'failed'),
  counted('recalls', 'recalls'),
  counted('repeatedAbandoned', 'abandoned calls made again', 'repeated'),
  counted('prefixBreaks', 'prefix breaks', 'breaks'),
  counted('reverts', 'reverts'),
  counted('folds', 'folds'),
  counted('compactions', 'compactions'),
  counted('stalls', 'stalls noticed', 'stalls'),
  { name: 'runMs', label: 'time at work', short: 'time', valueOf: ({ runMs }) => runMs, write: duration },
]
