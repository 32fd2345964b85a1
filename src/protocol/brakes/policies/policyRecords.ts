import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { usageSchema } from '../../messages.ts'
import { inTurn } from '../../recordShapes.ts'
import { asked } from '../asked.ts'

/** A policy of an agent: its name, and those of its trigger, its decider and its keeper, such as `tokensOver(60000)`. */
export const policyInfoSchema = lazily(() =>
  z.object({ name: z.string(), when: z.string(), decide: z.string(), keep: z.string() }),
)
export type PolicyInfo = z.infer<ReturnType<typeof policyInfoSchema>>

/** Asks for a policy by name, whatever its trigger says. */
export const policyRequestSchema = lazily(() => z.object({ ...asked(), policy: z.string() }))
export type PolicyRequest = z.infer<ReturnType<typeof policyRequestSchema>>

export const policyStartSchema = lazily(() =>
  z.object({
    policy: z.string(),
    /** Reason in a few words. */
    why: z.string(),
    /** Turns in the agent's lifetime. */
    turn: z.int().nonnegative(),
    /** Estimated tokens of the next request. */
    tokens: z.number().nonnegative(),
    /** The request that it answers. */
    requestId: z.string().exactOptional(),
  }),
)
export type PolicyStart = z.infer<ReturnType<typeof policyStartSchema>>

/**
 * Outcome of a policy; without a start, the cost of asking one that did not fire. Its requests are decided by the drains, and the outcome of each
 * stands in a record of its own.
 */
export const policyEndSchema = lazily(() =>
  z.object({
    policy: z.string(),
    outcome: z.enum(['planned', 'nothing', 'failed']),
    /** Ids of its requests. */
    prune: z.string().exactOptional(),
    revert: z.string().exactOptional(),
    /** Text that the model is told. */
    note: z.string().exactOptional(),
    /** Why it failed, or found nothing to do. */
    reason: z.string().exactOptional(),
    /** The request that this answers. */
    requestId: z.string().exactOptional(),
    /** Usage of the models that the policy asked. */
    usage: usageSchema().exactOptional(),
    costUsd: z.number(),
  }),
)
export type PolicyEnd = z.infer<ReturnType<typeof policyEndSchema>>

export const policyRecords = {
  'policy.requested': () =>
    z.object({ ...inTurn(), type: z.literal('policy.requested'), request: policyRequestSchema() }),
  'policy.start': () => z.object({ ...inTurn(), type: z.literal('policy.start'), ...policyStartSchema().shape }),
  'policy.end': () => z.object({ ...inTurn(), type: z.literal('policy.end'), ...policyEndSchema().shape }),
} as const

export const policyCommands = {
  'agent.brake': () => onlyFields({ ...toAgent(), type: z.literal('agent.brake'), policy: z.string() }),
} as const
