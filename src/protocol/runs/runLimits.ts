import { z } from 'zod'
import { onlyFields } from '../checks/onlyFields.ts'
import { lazily } from '../lazily.ts'

/** Limits of one run. An omitted limit does not apply. */
export const limitsSchema = lazily(() =>
  onlyFields({
    turns: z.int().positive().exactOptional(),
    /** Maximum number of tokens of the run's model calls, including cached ones. */
    tokens: z.int().positive().exactOptional(),
    costUsd: z.number().positive().exactOptional(),
    /** Wall time in milliseconds. Waits for approvals do not count, and a running tool is allowed to finish. */
    ms: z.number().positive().exactOptional(),
    /** Reaction to a reached limit. The agent pauses (default), or gets one last turn without tools to answer with the results so far. */
    onLimit: z.enum(['pause', 'answer']).exactOptional(),
  }),
)
export type Limits = z.infer<ReturnType<typeof limitsSchema>>
