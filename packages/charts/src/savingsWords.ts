import type { BrakeSaving, Dollars, Saved, Spending, Unpriced } from '../../sessions/src/savings/savings.ts'
import { totalTokens } from '../../../src/protocol/text/messageText.ts'
import { counted, dollars, whole } from './amounts.ts'

/** Spending and savings of an agent, or of a tree of agents. */
export interface Saving extends Saved {
  readonly spent: Spending
  readonly unpriced?: Unpriced
}

const signed = (costUsd: number): string => (costUsd < 0 ? `−${dollars(-costUsd)}` : dollars(costUsd))

/** Formats a range of US dollars: `$1.33 to $1.43`, or one amount where both ends read the same. */
export function rangeWords({ low, high }: Dollars): string {
  const [from, to] = [signed(low), signed(high)]
  return from === to ? from : `${from} to ${to}`
}

/** Reasons why there are no dollars, in words. */
export const unpricedWords: Readonly<Record<Unpriced, string>> = {
  missing: 'no dollars: prices are not known',
  free: 'no dollars: the model costs nothing',
  absurd: 'no dollars: the prices in the log cannot be right',
}

/** Returns the tokens that would have been used without brakes. */
export const tokensWithout = ({ spent, tokens }: Saving): number => totalTokens(spent.usage) + tokens

/** Returns the cost without brakes; `null` without prices. */
export const usdWithout = ({ spent: { costUsd }, usd }: Saving): Dollars | null =>
  usd === null ? null : { low: costUsd + usd.low, high: costUsd + usd.high }

/** Returns the share of tokens that was saved: ` (52 %)`. */
export const shareWords = (saving: Saving): string => {
  const without = tokensWithout(saving)
  return without <= 0 ? '' : ` (${Math.round((100 * saving.tokens) / without)} %)`
}

/** Describes savings net of what the brakes cost: `12,345 tokens (52 %), $1.33 to $1.43 of $2.64 to $2.74`. Pure. */
export function savedWords(saving: Saving): string {
  const { tokens, usd, unpriced } = saving
  const saved =
    tokens < 0 ? `${counted(-tokens, 'token')} more than without` : `${counted(tokens, 'token')}${shareWords(saving)}`
  const without = usdWithout(saving)
  if (usd === null || without === null) return `${saved}; ${unpricedWords[unpriced ?? 'missing']}`
  return `${saved}, ${rangeWords(usd)} of ${rangeWords(without)}`
}

/** Describes the savings of a change so far: `12,345 tokens, $0.55 to $0.61 in 25 requests`. Pure. */
export const broughtWords = ({ tokens, usd, requests }: BrakeSaving): string =>
  `${whole(tokens)} tokens${usd === null ? '' : `, ${rangeWords(usd)}`} in ${counted(requests, 'request')}`

/** Returns the notes that explain the figures of the savings, one per line. Pure. */
export function savingsNotes({
  window,
  isWindowAssumed,
  fullAt,
  isEstimated,
  isPartial,
  usd,
}: {
  readonly window: number
  readonly isWindowAssumed: boolean
  readonly fullAt?: number
  readonly isEstimated: boolean
  readonly isPartial: boolean
  readonly usd: Dollars | null
}): string[] {
  return [
    ...(usd === null || usd.low === usd.high
      ? []
      : [
          'the lower figure: the cache would have held all that the brakes took away; the higher one: the share that was measured',
        ]),
    ...(fullAt === undefined
      ? []
      : [`without brakes the window of ${whole(window)} tokens is full at turn ${fullAt + 1}`]),
    ...(fullAt === undefined || !isWindowAssumed ? [] : ['the window is assumed: the log does not say it']),
    ...(isEstimated ? ['sizes are estimates where the provider reported none'] : []),
    ...(isPartial ? ['the log begins in the middle: what was before is not counted'] : []),
  ]
}
