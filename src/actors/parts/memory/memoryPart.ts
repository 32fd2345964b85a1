import { agentPart } from '../agentPart.ts'
import { memoryOf, memorySchema, type MemoryOption, type MemorySetting } from './memoryOptions.ts'
import { memoryTools } from './memoryTools.ts'
import { recallMemoryName, rememberName } from './names.ts'

/** An agent's memory beyond one conversation; `useMemory` asks it before a turn. */
export const memoryPart = agentPart<MemoryOption<never>, MemorySetting>({
  options: { memory: memorySchema },
  settings: ({ memory }, label) => ({ memory: memoryOf(memory, label) }),
  tools: (_, { memory }) => (memory === null ? [] : memoryTools(memory)),
  toolNames: [rememberName, recallMemoryName],
  flags: (_, { memory }) => (memory === null ? {} : { turns: true }),
})
