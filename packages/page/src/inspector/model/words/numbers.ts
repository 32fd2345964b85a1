import { counted, money, whole } from '../../../../../charts/src/amounts.ts'
import type { Usage } from '../../../../../../src/protocol/messages.ts'
import { totalTokens } from '../../../../../../src/protocol/text/messageText.ts'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 })

/** Formats a rounded count: `12,345`. */
export const formatCount = (value: number): string => whole(Math.round(value))

const byteUnits = ['KB', 'MB', 'GB'] as const

/** Formats a number of bytes: `1 byte`, `812 bytes`, `1.2 KB`, `16.8 MB`, in powers of 1,000. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit: string | undefined
  // What is rounded to 1,000 is one of the next unit.
  for (const next of byteUnits) {
    if (value < (unit === undefined ? 1_000 : 999.95)) break
    value /= 1_000
    unit = next
  }
  return unit === undefined ? counted(bytes, 'byte') : `${value.toFixed(1)} ${unit}`
}

/** Formats a number in short: `12.3K`. */
export const formatCompact = (value: number): string => compact.format(value)

export const formatShare = (value: number): string => percent.format(value)

/** Describes the tokens and cost of a policy that asked a model: `1,000 tokens, $0.0020`. */
export const askingCost = (usage: Usage, costUsd: number): string =>
  `${counted(totalTokens(usage), 'token')}${costUsd === 0 ? '' : `, ${money(costUsd)}`}`
