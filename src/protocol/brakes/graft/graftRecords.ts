import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { economicsSchema } from '../../economics.ts'
import { nodeIdSchema } from '../../ids.ts'
import { inTurn } from '../../recordShapes.ts'
import { stateMoveSchema } from '../../parts/state/stateRecords.ts'
import { asked } from '../asked.ts'

export const graftRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** Ids of the steps as they were given: `n12`, `12`, or any other text. */
    steps: z.array(z.string()).readonly(),
  }),
)
export type GraftRequest = z.infer<ReturnType<typeof graftRequestSchema>>

/** Outcome of a graft; `copies` are on the trunk, and `reason` explains the steps that were not copied. */
export const graftOutcomeSchema = lazily(() =>
  z.object({
    id: z.string(),
    applied: z.boolean(),
    requested: z.array(z.string()).readonly(),
    /** The new nodes, in order, each with the original node that it repeats. The original is never a copy itself. */
    copies: z.array(z.object({ nodeId: nodeIdSchema(), from: nodeIdSchema() })).readonly(),
    reason: z.string().exactOptional(),
    /** Effect of the graft on the agent's state, if that changed. */
    state: stateMoveSchema().exactOptional(),
    /** Economics of an applied graft. */
    economics: economicsSchema().exactOptional(),
  }),
)
export type GraftOutcome = z.infer<ReturnType<typeof graftOutcomeSchema>>

export const graftRecords = {
  'graft.requested': () => z.object({ ...inTurn(), type: z.literal('graft.requested'), request: graftRequestSchema() }),
  'graft.applied': () => z.object({ ...inTurn(), type: z.literal('graft.applied'), ...graftOutcomeSchema().shape }),
} as const

export const graftCommands = {
  'agent.graft': () => onlyFields({ ...toAgent(), type: z.literal('agent.graft'), steps: z.array(z.string()).min(1) }),
} as const
