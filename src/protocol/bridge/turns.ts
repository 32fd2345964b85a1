import { z } from 'zod'
import { onlyFields } from '../checks/onlyFields.ts'
import { lazily } from '../lazily.ts'

/** The tool that the model is to call: its own choice, none, any, or the named one. Providers without this setting ignore it. */
export const toolChoiceSchema = lazily(() =>
  z.union([z.enum(['auto', 'none', 'required']), onlyFields({ tool: z.string().min(1) }).readonly()]),
)
export type ToolChoice = z.infer<ReturnType<typeof toolChoiceSchema>>

/** The reached limit of a run, the allowed amount, and the used amount. */
export const limitReasonSchema = lazily(() =>
  z.object({
    type: z.literal('limit'),
    limit: z.enum(['turns', 'tokens', 'costUsd', 'ms']),
    allowed: z.number(),
    used: z.number(),
  }),
)
export type LimitReason = z.infer<ReturnType<typeof limitReasonSchema>>

/** A model by its id and, if it is one of the definition's `models`, by its name there. */
export const modelUseSchema = lazily(() => z.object({ id: z.string(), name: z.string().exactOptional() }))
export type ModelUse = z.infer<ReturnType<typeof modelUseSchema>>

/** Values that replace the definition's from the next turn on. */
export const turnUseSchema = lazily(() =>
  z.object({
    instructions: z.string().exactOptional(),
    /** Names of the tools and sub-agents that are offered. */
    tools: z.array(z.string()).readonly().exactOptional(),
    model: modelUseSchema().exactOptional(),
  }),
)
export type TurnUse = z.infer<ReturnType<typeof turnUseSchema>>

/** Changes to the values that replace the definition's. `null` resets a field to the definition. A missing field stays. */
export const useChangeSchema = lazily(() =>
  onlyFields({
    instructions: z.string().max(1_000_000).nullable().exactOptional(),
    tools: z.array(z.string()).max(10_000).readonly().nullable().exactOptional(),
    /** A name of the definition's `models`, or an id. */
    model: z.string().min(1).max(256).nullable().exactOptional(),
  }),
)
export type UseChange = z.infer<ReturnType<typeof useChangeSchema>>

/** Parameters of one turn. A missing field has the value of the definition. */
export const preparedTurnSchema = lazily(() =>
  z.object({
    /** The sources of the parameters; the last one takes precedence. */
    by: z.array(z.enum(['instructions', 'use', 'beforeTurn', 'limit'])).readonly(),
    /** Instructions without the runtime's additions, such as the form of the answer. */
    instructions: z.string().exactOptional(),
    /** Set if the instructions are the newest ones in this log. */
    sameInstructions: z.literal(true).exactOptional(),
    /** Names of the offered tools and sub-agents. The tools of the brakes are always offered too. */
    tools: z.array(z.string()).readonly().exactOptional(),
    model: modelUseSchema().exactOptional(),
    /** Settings that differ from the definition, without the provider's own options, which may contain secrets. */
    settings: z.record(z.string(), z.unknown()).readonly().exactOptional(),
    /** The limit that was reached. This is the run's last turn: it has no tools, and the model is to answer with the results so far. */
    limit: limitReasonSchema().exactOptional(),
  }),
)
export type PreparedTurn = z.infer<ReturnType<typeof preparedTurnSchema>>
