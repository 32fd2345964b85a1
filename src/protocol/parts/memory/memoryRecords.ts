import { z } from 'zod'
import { memoryExtractionSchema } from '../../ports/memoryExtraction.ts'
import { inTurn } from '../../recordShapes.ts'

export const memoryRecords = {
  /** An extraction: content that left the model's sight was searched for facts worth knowing in later conversations. */
  'memory.extracted': () =>
    z.object({ ...inTurn(), type: z.literal('memory.extracted'), ...memoryExtractionSchema().shape }),
} as const
