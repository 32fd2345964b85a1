import type { MemoryFilter, MemoryRecord } from '../../../../src/protocol/ports/memory.ts'

/** Orders records by their last change, the newest first; those that changed at once by their ids, so that the order is always the same. */
export const byNewest = (a: MemoryRecord, b: MemoryRecord): number =>
  b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** Returns as many items as the filter takes. */
export const limited = <T>(items: readonly T[], { limit }: MemoryFilter): readonly T[] =>
  limit === undefined ? items : items.slice(0, limit)
