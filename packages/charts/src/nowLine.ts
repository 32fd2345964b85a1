import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import { counted, dollars, duration, whole } from './amounts.ts'
import { oneLine } from './plainText.ts'
import type { PlanFacts } from './planOf.ts'

/** Known facts about an agent at work; a missing fact is left out of the line. */
export interface NowFacts {
  /** Index of the turn, counted from 0 since the agent's creation. */
  readonly turnIndex?: number
  /** The agent's activity, in the words of `standingWords`. */
  readonly doing: string
  /** Duration of that activity, in milliseconds. */
  readonly forMs?: number
  readonly plan?: PlanFacts
  /** Number of sub-agents at work. */
  readonly children?: number
  /** Activity of each sub-agent: `coder writing`. */
  readonly below?: readonly string[]
  /** Tokens of the last request, and the size of the model's context window. */
  readonly contextTokens?: { readonly used: number; readonly window?: number }
  /** Cost in US dollars, sub-agents included; 0 if no price is known. */
  readonly costUsd?: number
  readonly limits?: Limits
  /** The limit that is nearest, in words: `12 of 60 turns`. Takes the place of `limits`. */
  readonly nearest?: string
}

const units = ['', 'K', 'M', 'G'] as const

/** Formats a number of tokens: `812`, `9.6K`, `200K`, `1.2M`. Pure. */
export function compactTokens(tokens: number): string {
  let value = Math.max(0, tokens)
  let unit = 0
  // What is rounded to 1,000 is one of the next unit.
  for (; value >= (unit === 0 ? 999.5 : 999.95) && unit < units.length - 1; unit += 1) value /= 1_000
  const digits = unit === 0 ? 0 : 1
  return `${value.toFixed(digits).replace(/\.0$/, '')}${units[unit]}`
}

/** Describes the use of the context: `9.6K of 200K context`, or `9.6K context` if the window is not known. Pure. */
export const contextWords = ({ used, window }: NonNullable<NowFacts['contextTokens']>): string =>
  `${compactTokens(used)}${window === undefined ? '' : ` of ${compactTokens(window)}`} context`

/** Describes the limits of a run: `60 turns`, `$5.00`. Pure. */
export const limitsWords = ({ turns, tokens, costUsd, ms }: Limits): readonly string[] => [
  ...(turns === undefined ? [] : [counted(turns, 'turn')]),
  ...(costUsd === undefined ? [] : [dollars(costUsd)]),
  ...(ms === undefined ? [] : [duration(ms)]),
  ...(tokens === undefined ? [] : [`${compactTokens(tokens)} tokens`]),
]

/**
 * Describes the activity of an agent in parts, from left to right; the parts at the end may be left out first: `turn 54`, `runs npm test`,
 * `1.4 s`, `plan 3/7: write the tests`, `9.6K of 200K context`, `$0.27`, `limit 60 turns`. For the page's header and the terminal's status line. Pure.
 */
export function nowParts({
  turnIndex,
  doing,
  forMs,
  plan,
  children = 0,
  below = [],
  contextTokens,
  costUsd = 0,
  limits,
  nearest,
}: NowFacts): string[] {
  const limited = nearest !== undefined ? [nearest] : limits === undefined ? [] : limitsWords(limits)
  return [
    ...(turnIndex === undefined ? [] : [`turn ${whole(turnIndex + 1)}`]),
    oneLine(doing),
    ...(forMs === undefined ? [] : [duration(forMs)]),
    ...(plan === undefined ? [] : [`plan ${plan.at}${plan.step === undefined ? '' : `: ${plan.step}`}`]),
    ...(children === 0
      ? []
      : [counted(children, 'sub-agent') + (below.length === 0 ? '' : `: ${oneLine(below.join(', '))}`)]),
    ...(contextTokens === undefined ? [] : [contextWords(contextTokens)]),
    ...(costUsd === 0 ? [] : [dollars(costUsd)]),
    ...(limited.length === 0 ? [] : [`limit ${limited.join(', ')}`]),
  ]
}

/** Joins the parts of `nowParts` into one line. Pure. */
export const nowLine = (facts: NowFacts): string => nowParts(facts).join(' · ')
