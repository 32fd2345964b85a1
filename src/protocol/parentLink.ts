import { z } from 'zod'
import { lazily } from './lazily.ts'
import { agentIdSchema } from './ids.ts'

const count = lazily(() => z.int().nonnegative())

/** Link to the parent that started the agent. Without `callId`, code started it. */
export const parentSchema = lazily(() =>
  z.object({
    agentId: agentIdSchema(),
    runId: z.string(),
    turnIndex: count(),
    callId: z.string().exactOptional(),
    /** Key of the call whose outcome the agent reports to its caller. Set for a detached agent. */
    reports: z.string().exactOptional(),
    /** Fewest turns that recent runs of the same definition took for this parent. */
    expected: count().exactOptional(),
  }),
)
export type ParentLink = z.infer<ReturnType<typeof parentSchema>>
