import type { MemoryFilter, MemoryRecord } from '../protocol/memory.ts'

/** What changed last goes first; of what changed at once, in the order of the ids, so that it is always the same. */
export const byNewest = (a: MemoryRecord, b: MemoryRecord): number =>
  b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** As many as the filter takes. */
export const limited = <T>(items: readonly T[], { limit }: MemoryFilter): readonly T[] =>
  limit === undefined ? items : items.slice(0, limit)
