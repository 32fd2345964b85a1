import { z } from 'zod'
import { errorInfoSchema } from '../errorInfo.ts'
import { lazily } from '../lazily.ts'
import { pauseReasonSchema, runStopReasonSchema } from '../records.ts'

/** End of a run, for lists. `at` is in epoch milliseconds; the message of an error is one line. */
export const lastRunSchema = lazily(() =>
  z.object({
    stopReason: runStopReasonSchema(),
    at: z.number(),
    error: errorInfoSchema().exactOptional(),
    reason: pauseReasonSchema().exactOptional(),
  }),
)
export type LastRun = z.infer<ReturnType<typeof lastRunSchema>>
