/** The door "escapement/memory": memory of agents beyond one conversation, and its stores. */
export { markdownMemory } from './memory/markdownMemory.ts'
export { sqliteMemory, type SqliteMemory } from './memory/sqliteMemory.ts'
export {
  isTrusted,
  mergeMemory,
  type Memory,
  type MemoryDeletion,
  type MemoryFilter,
  type MemoryProblem,
  type MemoryRecord,
  type MemoryScope,
  type MemoryTier,
} from './protocol/memory.ts'
