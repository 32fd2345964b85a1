import { duration } from '../../../charts/src/amounts.ts'
import type { Dollars } from '../../../sessions/src/savings/savings.ts'
import type { TrialMetrics } from '../results.ts'
import type { MeasureName } from './report.ts'
import { usd } from './words.ts'

/** Names, bounds and format of a measure of trials. */
export interface Measure {
  readonly name: MeasureName
  readonly label: string
  /** Label in a column of a terminal. */
  readonly short: string
  readonly most?: number
  /** Default: 0. */
  readonly least?: number
  /** Returns the value of a trial; `null` if it is unknown. */
  valueOf(metrics: TrialMetrics): number | null
  write(value: number): string
}

/** Formats an amount: as `12,345` from 100 on, with one digit below. */
export const amount = (value: number): string =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en-US')
    : value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 1 ? 2 : 1 })

/** Formats a share as `41 %`: a whole number, unless that would round it to 0 or 100. */
export function percent(share: number): string {
  const isAlmost = (share > 0 && share < 0.005) || (share > 0.995 && share < 1)
  return `${(share * 100).toFixed(isAlmost ? 1 : 0)} %`
}

const counted = (
  name: Exclude<MeasureName & keyof TrialMetrics, `saved${string}`>,
  label: string,
  short = label,
): Measure => ({
  name,
  label,
  short,
  valueOf: (metrics) => metrics[name],
  write: amount,
})

const savedUsd = (name: MeasureName, bound: string, end: keyof Dollars): Measure => ({
  name,
  label: `dollars saved by brakes, net, ${bound}`,
  short: `saved, ${bound}`,
  least: -Infinity,
  valueOf: (metrics) => metrics.savedUsd?.[end] ?? null,
  write: (value) => (value < 0 ? `−${usd(-value)}` : usd(value)),
})

/** Measures that are reported for every arm, in this order. */
export const measures: readonly Measure[] = [
  { name: 'costUsd', label: 'cost per trial', short: 'cost', valueOf: ({ costUsd }) => costUsd, write: usd },
  {
    name: 'savedTokens',
    label: 'tokens saved by brakes, net',
    short: 'saved',
    least: -Infinity,
    valueOf: ({ savedTokens = null }) => savedTokens,
    write: amount,
  },
  savedUsd('savedUsdLeast', 'at least', 'low'),
  savedUsd('savedUsdMost', 'at most', 'high'),
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
