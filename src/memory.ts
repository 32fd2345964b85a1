/** The door "escapement/memory": memory of agents beyond one conversation, and stores for it. */
export { markdownMemory } from '../packages/tools/src/memory/markdownMemory.ts'
export { sqliteMemory, type SqliteMemory } from '../packages/tools/src/memory/sqliteMemory.ts'
export type { Memory, MemoryFilter, MemoryRecord, MemoryScope } from './protocol/ports/memory.ts'
export { isTrusted, mergeMemory } from '../packages/tools/src/memory/memoryRules.ts'
