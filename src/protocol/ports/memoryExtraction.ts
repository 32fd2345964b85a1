import { z } from 'zod'
import { lazily } from '../lazily.ts'
import { usageSchema } from '../messages.ts'

/** Extraction of facts for an agent's memory from content that the model no longer sees: folded or compacted steps, and abandoned branches. */
export const memoryExtractionSchema = lazily(() =>
  z.object({
    /** Deterministic id of the effect. If the process dies, the effect is repeated. */
    key: z.string(),
    /** The records as the memory keeps them. */
    kept: z
      .array(
        z.object({
          id: z.string(),
          scope: z.string(),
          kind: z.enum(['fact', 'lesson']),
          text: z.string(),
          /** True if the text may come from a tool's output. */
          tainted: z.boolean(),
        }),
      )
      .readonly(),
    /** Reason why a fact was not kept. */
    problem: z.string().exactOptional(),
    /** Usage of the model that extracted the facts. */
    usage: usageSchema().exactOptional(),
    costUsd: z.number(),
  }),
)
export type MemoryExtraction = z.infer<ReturnType<typeof memoryExtractionSchema>>
