import type { remembering } from '../../../../src/actors/parts/memory/remembering.ts'
import { keepFact } from './keepFact.ts'
import { memoryOf, memorySchema } from './memorySettings.ts'
import { memoryTools } from './memoryTools.ts'
import { useMemory } from './useMemory.ts'

/** All functions of an agent with a memory. */
export const knownRemembering: Required<typeof remembering> = {
  schema: memorySchema,
  settings: memoryOf,
  tools: memoryTools,
  use: useMemory,
  keepFact,
}
