import { z } from 'zod'
import { lazily } from './lazily.ts'
import { agentIdSchema } from './ids.ts'

const count = lazily(() => z.int().nonnegative())

/** Where an agent was started by its parent; without `callId`, by code. */
export const parentSchema = lazily(() =>
  z.object({
    agentId: agentIdSchema(),
    runId: z.string(),
    turnIndex: count(),
    callId: z.string().exactOptional(),
    /** It works on its own, and tells its caller what came of the call with this key. */
    reports: z.string().exactOptional(),
  }),
)
export type ParentLink = z.infer<ReturnType<typeof parentSchema>>
