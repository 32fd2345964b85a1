import { z } from 'zod'
import { agentIdSchema } from './ids.ts'

const count = z.int().nonnegative()

/** Where an agent was started by its parent; without `callId`, by code. */
export const parentSchema = z.object({
  agentId: agentIdSchema,
  runId: z.string(),
  turnIndex: count,
  callId: z.string().exactOptional(),
  /** It works on its own, and tells its caller what came of the call with this key. */
  reports: z.string().exactOptional(),
})
export type ParentLink = z.infer<typeof parentSchema>
