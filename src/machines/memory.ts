import type { Draft } from './draft.ts'
import type { TakenMemory } from './effectTypes.ts'

/** Records the additions to the agent's memory, and adds its memories for the turn to the conversation, after the messages of people. */
export function takeMemory(draft: Draft, memory: TakenMemory | undefined): void {
  if (memory === undefined) return
  const { recalled, extracted } = memory
  if (extracted !== undefined) draft.record({ type: 'memory.extracted', ...draft.at, ...extracted })
  for (const { content, provenance } of recalled) {
    const stamp = provenance === undefined ? {} : { provenance }
    const message = { role: 'user', content, source: 'prompt', ...stamp } as const
    draft.record({ type: 'message.added', ...draft.at, ...draft.place(), message })
  }
}
