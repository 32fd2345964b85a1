import { oneTaskOnly, sameInAll, tooFewTasks, type Figure } from '../statistics/figure.ts'

/** Formats a p value: `p = .034`, `p < .001`. */
export function pWords(p: number): string {
  if (p < 0.001) return 'p < .001'
  const digits = p < 0.1 ? 3 : 2
  return `p = ${p >= 1 ? '1' : p.toFixed(digits).replace(/^0/, '')}`
}

/** Formats a ratio: `× .61`, `× 1.20`. */
export const times = (ratio: number): string =>
  `× ${(ratio < 0.095 ? ratio.toFixed(3) : ratio.toFixed(2)).replace(/^0\./, '.')}`

/** Formats a difference of shares in points: `+12`, `−3.5`, `0`. */
export function points(difference: number): string {
  const rounded = Math.round(difference * 1000) / 10
  const sign = rounded > 0 ? '+' : rounded < 0 ? '−' : ''
  return `${sign}${Math.abs(rounded)}`
}

/**
 * Formats a figure with its interval, as `41 % (30 % to 53 %)`; without an interval, with the reason in a word or two; a dash if there is no figure.
 */
export function figureWords(figure: Figure, write: (value: number) => string): string {
  if (figure.value === null) return '–'
  const interval = intervalWords(figure, write)
  return `${write(figure.value)} (${interval === '' ? whyBriefly(figure) : interval})`
}

/** Returns the reason why a figure has no interval, in a word or two. */
export const whyBriefly = ({ why = '' }: Figure): string => briefly[why] ?? 'no interval'

const briefly: Readonly<Record<string, string>> = {
  [sameInAll]: 'same in all',
  [oneTaskOnly]: 'one task',
  [tooFewTasks]: 'few tasks',
}

/** Formats the interval alone, as `30 % to 53 %`; empty without one. */
export const intervalWords = ({ interval }: Figure, write: (value: number) => string): string =>
  interval === null ? '' : `${write(interval.low)} to ${write(interval.high)}`

/** Formats US dollars with about three significant digits and at most four decimals: `$1.23`, `$0.0412`. */
export function usd(cost: number): string {
  if (cost > 0 && cost < 0.0001) return '<$0.0001'
  if (cost === 0 || cost >= 0.995) return `$${cost.toFixed(2)}`
  return `$${cost.toFixed(Math.min(4, 2 - Math.floor(Math.log10(cost))))}`
}
