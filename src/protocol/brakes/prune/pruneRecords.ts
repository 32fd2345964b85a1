import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { economicsSchema } from '../../economics.ts'
import { nodeIdSchema } from '../../ids.ts'
import { inTurn } from '../../recordShapes.ts'
import { asked } from '../asked.ts'

export const pruneRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** Origin of the request. `runtime`: a policy planned it. */
    by: z.enum(['model', 'person', 'runtime']),
    steps: z.array(z.string()).readonly().exactOptional(),
    tokens: z.number().positive().exactOptional(),
    memo: z.string().exactOptional(),
    /** Folds the steps, or without `steps` every step that may be folded: `tokens` and `memo` are ignored. */
    fold: z.literal(true).exactOptional(),
    /** Masks the results: the steps and their calls stay, and a line replaces each result's content. `memo` is ignored. */
    mask: z.literal(true).exactOptional(),
    /** Shows pruned, folded or masked steps again. `tokens` and `memo` are ignored. */
    show: z.literal(true).exactOptional(),
    /** For a fold: shortens the lines of older folds as they pile up. Without `steps` they are always shortened. */
    rollUp: z.literal(true).exactOptional(),
    /** The policy that planned it. */
    policy: z.string().exactOptional(),
  }),
)
export type PruneRequest = z.infer<ReturnType<typeof pruneRequestSchema>>

/** Outcome of a prune; `steps` are hidden, masked or shown again, and `reason` explains the steps that were left. */
export const pruneOutcomeSchema = lazily(() =>
  z.object({
    id: z.string(),
    applied: z.boolean(),
    steps: z.array(nodeIdSchema()).readonly(),
    /** Estimated tokens that the prune hid, that a mask freed, or that came back with steps shown again. */
    tokens: z.number().nonnegative(),
    memo: z.string().exactOptional(),
    reason: z.string().exactOptional(),
    /** Economics of an applied prune. */
    economics: economicsSchema().exactOptional(),
    /** Set for a mask: the steps are shown, without the content of their results. */
    masked: z.literal(true).exactOptional(),
    /** Set if the steps are shown again, as they were. */
    shown: z.literal(true).exactOptional(),
    /** Set for a fold: `memo` has a line for each step, in their order. */
    by: z.literal('runtime').exactOptional(),
    policy: z.string().exactOptional(),
    /** For a fold: names that occur only in hidden steps, one line per step: its id, then the names. */
    index: z.string().exactOptional(),
    /** For a fold: shorter memos that replace those of older folds. */
    rolled: z
      .array(
        z.object({
          folds: z.array(z.string()).readonly(),
          /** Detail of the memo: a line for each step, or a few for all of them. */
          detail: z.enum(['shortLine', 'digest']),
          memo: z.string(),
        }),
      )
      .readonly()
      .exactOptional(),
  }),
)
export type PruneOutcome = z.infer<ReturnType<typeof pruneOutcomeSchema>>

export const pruneRecords = {
  'prune.requested': () => z.object({ ...inTurn(), type: z.literal('prune.requested'), request: pruneRequestSchema() }),
  'prune.applied': () => z.object({ ...inTurn(), type: z.literal('prune.applied'), ...pruneOutcomeSchema().shape }),
} as const

export const pruneCommands = {
  'agent.prune': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.prune'),
      steps: z.array(z.string()).min(1).exactOptional(),
      /** Number of tokens to hide, the oldest steps first; without `steps`. */
      tokens: z.number().positive().exactOptional(),
      memo: z.string().exactOptional(),
      /** Masks the steps' results, and leaves their calls in sight. */
      mask: z.literal(true).exactOptional(),
      /** Shows hidden and masked steps again, in their places; needs `steps`. */
      show: z.literal(true).exactOptional(),
    }),
  'agent.fold': () => onlyFields({ ...toAgent(), type: z.literal('agent.fold') }),
} as const

export type PruneCommand = z.output<ReturnType<(typeof pruneCommands)['agent.prune']>>
