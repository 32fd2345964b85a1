import { counted } from '../../charts/amounts.ts'
import { totalTokens, type Usage } from '../../protocol/messages.ts'

const whole = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 })

/** `12,345`. */
export const formatCount = (value: number): string => whole.format(Math.round(value))

/** `12.3K`. */
export const formatCompact = (value: number): string => compact.format(value)

export const formatShare = (value: number): string => percent.format(value)

/** Dollars, with as many digits as a small amount needs. */
export const formatCost = (usd: number): string =>
  usd === 0 ? '$0' : usd < 0.01 ? `$${usd.toFixed(5)}` : `$${usd.toFixed(usd < 1 ? 3 : 2)}`

/** What a policy used that asked a model: `1,000 tokens, $0.002`. */
export const askingCost = (usage: Usage, costUsd: number): string =>
  `${counted(totalTokens(usage), 'token')}${costUsd === 0 ? '' : `, ${formatCost(costUsd)}`}`

/** `12 ms`, `3.4 s`, `2 min 5 s`, `1 h 4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
