import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { usageSchema } from '../../messages.ts'
import { inTurn } from '../../recordShapes.ts'
import { asked } from '../asked.ts'

/** A policy of an agent: its name, and the names of its trigger, decider and keeper, such as `tokensOver(60000)`. */
export const policyInfoSchema = lazily(() =>
  z.object({ name: z.string(), when: z.string(), decide: z.string(), keep: z.string() }),
)
export type PolicyInfo = z.infer<ReturnType<typeof policyInfoSchema>>

/** A request to run a policy by name, regardless of its trigger. */
export const policyRequestSchema = lazily(() => z.object({ ...asked(), policy: z.string() }))
export type PolicyRequest = z.infer<ReturnType<typeof policyRequestSchema>>

export const policyStartSchema = lazily(() =>
  z.object({
    policy: z.string(),
    /** Reason for the start, in a few words. */
    why: z.string(),
    /** Number of turns that the agent has had. */
    turn: z.int().nonnegative(),
    /** Estimated tokens of the next request. */
    tokens: z.number().nonnegative(),
    /** The request that this start answers. */
    requestId: z.string().exactOptional(),
  }),
)
export type PolicyStart = z.infer<ReturnType<typeof policyStartSchema>>

/**
 * Outcome of a policy. Without a start, it has the cost of asking a policy that did not fire. The drains decide
 * its requests, and each outcome has a record of its own.
 */
export const policyEndSchema = lazily(() =>
  z.object({
    policy: z.string(),
    outcome: z.enum(['planned', 'nothing', 'failed']),
    /** Ids of the policy's requests. */
    prune: z.string().exactOptional(),
    revert: z.string().exactOptional(),
    /** Note for the model. */
    note: z.string().exactOptional(),
    /** Reason why the policy failed, or found nothing to do. */
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
