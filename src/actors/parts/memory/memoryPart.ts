import { agentPart } from '../agentPart.ts'
import type { MemoryOption, MemorySetting } from './memoryOptions.ts'
import { recallMemoryName, rememberName } from './names.ts'
import { remembering } from './remembering.ts'

/** The part for an agent's memory beyond one conversation, which is asked before a turn. */
export const memoryPart = agentPart<MemoryOption<never>, MemorySetting>({
  options: { memory: () => remembering.schema!() },
  settings: ({ memory }, label) => ({ memory: memory === undefined ? null : remembering.settings!(memory, label) }),
  tools: (_, { memory }) => (memory === null ? [] : remembering.tools!(memory)),
  toolNames: [rememberName, recallMemoryName],
  flags: (_, { memory }) => (memory === null ? {} : { turns: true }),
})
