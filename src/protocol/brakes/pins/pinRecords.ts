import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { nodeIdSchema } from '../../ids.ts'
import { inTurn } from '../../recordShapes.ts'
import { asked } from '../asked.ts'

export const pinRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** Origin of the request. `runtime`: a tool asked for it. Pins by the runtime and by the model hold against everything but a revert. */
    by: z.enum(['model', 'person', 'runtime']),
    /** Id of the step as it was given: `n12`, `12`, or any other text. */
    step: z.string(),
    /** True to pin the step; `false` to unpin it. */
    pinned: z.boolean(),
  }),
)
export type PinRequest = z.infer<ReturnType<typeof pinRequestSchema>>

/** Outcome of a pin; `reason` says why nothing changed. */
export const pinOutcomeSchema = lazily(() =>
  z.object({
    id: z.string(),
    applied: z.boolean(),
    requested: z.string(),
    pinned: z.boolean(),
    /** The first node of the step, or the id of a summary. */
    step: nodeIdSchema().exactOptional(),
    reason: z.string().exactOptional(),
  }),
)
export type PinOutcome = z.infer<ReturnType<typeof pinOutcomeSchema>>

export const pinRecords = {
  'pin.requested': () => z.object({ ...inTurn(), type: z.literal('pin.requested'), request: pinRequestSchema() }),
  'pin.applied': () => z.object({ ...inTurn(), type: z.literal('pin.applied'), ...pinOutcomeSchema().shape }),
} as const

export const pinCommands = {
  'agent.pin': () => onlyFields({ ...toAgent(), type: z.literal('agent.pin'), step: z.string() }),
  'agent.unpin': () => onlyFields({ ...toAgent(), type: z.literal('agent.unpin'), step: z.string() }),
} as const
