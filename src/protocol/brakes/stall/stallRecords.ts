import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { nodeIdSchema } from '../../ids.ts'
import { inTurn } from '../../recordShapes.ts'

export const stallRuleSchema = lazily(() => z.enum(['repeat', 'cycle', 'sameError', 'repeat4', 'nothingNew', 'errors']))
export type StallRule = z.infer<ReturnType<typeof stallRuleSchema>>

/** A loop that an agent is in, computed from its log. */
export const stallSchema = lazily(() =>
  z.object({
    rule: stallRuleSchema(),
    /** The loop's first step, by its first node. */
    first: nodeIdSchema(),
    /** The last node of the step before the loop, or of the nearest one before that is still on the trunk. */
    target: nodeIdSchema(),
    /** The steps that make the loop, by their first nodes, oldest first. */
    steps: z.array(nodeIdSchema()).readonly(),
    /** The repetition, in one line. */
    evidence: z.string(),
  }),
)
export type Stall = z.infer<ReturnType<typeof stallSchema>>

/** A stall, and the measure taken against it. */
export const stallOutcomeSchema = lazily(() =>
  z.object({
    ...stallSchema().shape,
    /** Position of this stall in a series of stalls, each within six steps of the previous one. Counts from 1. */
    count: z.int().positive(),
    rung: z.enum(['none', 'note', 'revert', 'pause']),
    /** Note for the model. */
    note: z.string().exactOptional(),
  }),
)
export type StallOutcome = z.infer<ReturnType<typeof stallOutcomeSchema>>

export const stallRecords = {
  'stall.detected': () => z.object({ ...inTurn(), type: z.literal('stall.detected'), ...stallOutcomeSchema().shape }),
} as const
