import { z } from 'zod'
import { lazily } from '../lazily.ts'
import { usageSchema } from '../messages.ts'

/**
 * An extraction for an agent's memory from content that has left its model's sight: steps that were folded or compacted, and branches that reverts
 * gave up.
 */
export const memoryExtractionSchema = lazily(() =>
  z.object({
    /** Deterministic id of the effect: it is done again if its process dies. */
    key: z.string(),
    /** Records that were put into the memory, as they stand there. */
    kept: z
      .array(
        z.object({
          id: z.string(),
          scope: z.string(),
          kind: z.enum(['fact', 'lesson']),
          text: z.string(),
          /** True if it may come from the output of a tool. */
          tainted: z.boolean(),
        }),
      )
      .readonly(),
    /** Why something was not kept. */
    problem: z.string().exactOptional(),
    /** Usage of the model that was asked. */
    usage: usageSchema().exactOptional(),
    costUsd: z.number(),
  }),
)
export type MemoryExtraction = z.infer<ReturnType<typeof memoryExtractionSchema>>
