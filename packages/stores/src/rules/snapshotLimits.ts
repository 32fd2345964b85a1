import { createHash } from 'node:crypto'
import type { SnapshotLimits } from '../../../../src/protocol/ports/snapshots.ts'

const mib = 1024 * 1024

export const defaultSnapshotLimits: SnapshotLimits = { maxBytes: 256 * mib, maxCount: 10_000, maxFileBytes: 16 * mib }

/** Limits on contents kept in memory. */
export const memorySnapshotLimits: SnapshotLimits = { ...defaultSnapshotLimits, maxBytes: 64 * mib }

/** Returns the id of a content, its SHA-256. */
export const snapshotId = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export const isSnapshotId = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)

/** Checks the size of a content. @throws Error if it is too large to be kept */
export function checkSnapshotSize(
  { length }: Uint8Array,
  { maxFileBytes }: Pick<SnapshotLimits, 'maxFileBytes'>,
): void {
  if (length > maxFileBytes) throw new Error(`${length} bytes are more than is kept of a file (${maxFileBytes})`)
}

/** Sizes of contents by id, the least recently used first. */
export class SnapshotIndex {
  readonly #sizes = new Map<string, number>()
  #bytes = 0

  has(id: string): boolean {
    return this.#sizes.has(id)
  }

  /** Marks a content as the most recently used. */
  use(id: string, size: number): void {
    this.drop(id)
    this.#sizes.set(id, size)
    this.#bytes += size
  }

  drop(id: string): void {
    this.#bytes -= this.#sizes.get(id) ?? 0
    this.#sizes.delete(id)
  }

  /** Returns the id of the least recently used content, if the limits are exceeded. */
  excess({ maxBytes, maxCount }: SnapshotLimits): string | undefined {
    const isFull = this.#bytes > maxBytes || this.#sizes.size > maxCount
    return isFull ? this.#sizes.keys().next().value : undefined
  }
}
