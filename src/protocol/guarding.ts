import { z } from 'zod'
import { lazily } from './lazily.ts'
import { errorInfoSchema } from './errorInfo.ts'
import { nodeIdSchema } from './ids.ts'

export const refusalSchema = lazily(() =>
  z.object({
    /** The guarded content: messages from people to the agent, or its answer. */
    at: z.enum(['input', 'output']),
    /** Name of the guard's function. */
    guard: z.string(),
    reason: z.string(),
  }),
)
export type Refusal = z.infer<ReturnType<typeof refusalSchema>>

export const guardVerdictSchema = lazily(() =>
  z.object({
    at: z.enum(['input', 'output']),
    /** Decision of the guards. `failed`: a guard came to no decision. */
    decision: z.enum(['passed', 'refused', 'failed']),
    /** Name of the guard that refused or failed. */
    guard: z.string().exactOptional(),
    reason: z.string().exactOptional(),
    error: errorInfoSchema().exactOptional(),
    /** The last node of the people's messages that the verdict covers. Set for `input`, unless a guard failed. */
    to: nodeIdSchema().exactOptional(),
    /** Refused messages. From here on the model sees a line in place of each. */
    withheld: z.array(nodeIdSchema()).readonly().exactOptional(),
  }),
)
export type GuardVerdict = z.infer<ReturnType<typeof guardVerdictSchema>>

export function refusalIn(verdicts: readonly GuardVerdict[] = []): Refusal | undefined {
  const refused = verdicts.find(({ decision }) => decision === 'refused')
  if (refused === undefined) return undefined
  const { at, guard = '', reason = '' } = refused
  return { at, guard, reason }
}
