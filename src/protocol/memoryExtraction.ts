import { z } from 'zod'
import { lazily } from './lazily.ts'
import { usageSchema } from './messages.ts'

/** What was drawn for an agent's memory from what it left behind: steps that were folded or compacted, and what reverts gave up. */
export const memoryExtractionSchema = lazily(() =>
  z.object({
    /** Deterministic id of the effect: it is done again if its process dies. */
    key: z.string(),
    /** What was put into the memory, as it stands there. */
    kept: z
      .array(
        z.object({
          id: z.string(),
          scope: z.string(),
          kind: z.enum(['fact', 'lesson']),
          text: z.string(),
          /** It may come from the output of a tool. */
          tainted: z.boolean(),
        }),
      )
      .readonly(),
    /** Why something was not. */
    problem: z.string().exactOptional(),
    /** Of the model that was asked. */
    usage: usageSchema().exactOptional(),
    costUsd: z.number(),
  }),
)
export type MemoryExtraction = z.infer<ReturnType<typeof memoryExtractionSchema>>
