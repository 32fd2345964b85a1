import { z } from 'zod'
import { lazily } from '../lazily.ts'
import { usageSchema } from '../messages.ts'

/** Extraction of facts for an agent's memory from content that the model no longer sees: folded or compacted steps, and abandoned branches. */
export const memoryExtractionSchema = lazily(() =>
  z.object({
    /** Deterministic id of the effect, which is repeated if its process dies. */
    key: z.string(),
    /** The records in the form in which the memory keeps them. */
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
    /** Reason why something was not kept. */
    problem: z.string().exactOptional(),
    /** Usage of the model that was asked. */
    usage: usageSchema().exactOptional(),
    costUsd: z.number(),
  }),
)
export type MemoryExtraction = z.infer<ReturnType<typeof memoryExtractionSchema>>
