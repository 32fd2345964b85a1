import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { checkedBy } from '../../../src/protocol/errors.ts'
import type { Consultation, Plan, StepView } from '../../../src/actors/define/policy.ts'

/** The number of steps to hide, and those to keep. Without `downTo` and `share`: half of the tokens that policies can change at all. */
export interface HideOptions {
  /** Target size of the next request in tokens. */
  readonly downTo?: number
  /** Target size as a share of the context window, above 0 and below 1. */
  readonly share?: number
  /** Number of the model's newest steps that stay. Default 10. */
  readonly keepSteps?: number
}

export const hideFields = {
  downTo: z.number().positive().optional(),
  share: z.number().gt(0).lt(1).optional(),
  keepSteps: z.int().nonnegative().optional(),
}

const isOneTarget = ({ downTo, share }: Pick<HideOptions, 'downTo' | 'share'>): boolean =>
  downTo === undefined || share === undefined

/** Returns the schema of a decider's options. `downTo` and `share` exclude each other. */
export const hideSchema = <Fields extends z.ZodRawShape>(fields: Fields) =>
  onlyFields({ ...hideFields, ...fields }).refine((options) => isOneTarget(options as HideOptions), {
    message: 'give downTo or share, not both',
  })

/** @throws RuntimeError `INVALID_OPTION`, naming the decider and the option. */
export function checkOptions(label: string, schema: z.ZodType, options: unknown): void {
  checkedBy(schema, options, label)
}

/** Default number of the model's newest steps that stay. */
export const defaultKeepSteps = 10

/** Returns the steps that a plan may hide, oldest first: those of the model, except the newest and the fixed ones. */
export function hideableSteps(
  { steps }: Pick<Consultation, 'steps'>,
  keepSteps: number = defaultKeepSteps,
): readonly StepView[] {
  const own = steps.filter(({ role }) => role === 'assistant')
  return own.slice(0, Math.max(0, own.length - keepSteps)).filter(({ fixed }) => fixed === undefined)
}

/** Returns the tokens to hide so that the next request meets the target. Negative if it already does. */
export function tokensOver(
  { contextTokens, fixedTokens, contextWindow }: Consultation,
  { downTo, share }: HideOptions,
): number {
  if (share !== undefined) return contextTokens - share * contextWindow
  return contextTokens - (downTo ?? fixedTokens + (contextTokens - fixedTokens) / 2)
}

/** Returns the first steps that together have at least this many tokens, or all steps if they have fewer. */
export function firstOf(steps: readonly StepView[], tokens: number): readonly StepView[] {
  const chosen: StepView[] = []
  let left = tokens
  for (const step of steps) {
    if (left <= 0) break
    chosen.push(step)
    left -= step.tokens
  }
  return chosen
}

/** Returns the lowest-scored steps with at least this many tokens together, oldest first. Among equal scores, older steps are chosen. */
export function lowestFirst(
  steps: readonly StepView[],
  scores: readonly number[],
  tokens: number,
): readonly StepView[] {
  const order = steps.map((step, index) => ({ step, score: scores[index]! })).toSorted((a, b) => a.score - b.score)
  const chosen = new Set(
    firstOf(
      order.map(({ step }) => step),
      tokens,
    ),
  )
  return steps.filter((step) => chosen.has(step))
}

/** Returns a plan that hides these steps; `null` if there are none. */
export const hiding = (steps: readonly StepView[]): Plan | null =>
  steps.length === 0 ? null : { hide: steps.map(({ id }) => id) }
