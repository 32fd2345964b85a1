/** The door "escapement/memory": memory of agents beyond one conversation, and its stores. */
export { markdownMemory } from '../packages/tools/src/memory/markdownMemory.ts'
export { sqliteMemory, type SqliteMemory } from '../packages/tools/src/memory/sqliteMemory.ts'
export {
  isTrusted,
  mergeMemory,
  type Memory,
  type MemoryFilter,
  type MemoryRecord,
  type MemoryScope,
} from './protocol/ports/memory.ts'
