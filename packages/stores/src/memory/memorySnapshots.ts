import type { SnapshotLimits, SnapshotStore } from '../../../../src/protocol/ports/snapshots.ts'
import { checkSnapshotSize, memorySnapshotLimits, SnapshotIndex, snapshotId } from '../rules/snapshotLimits.ts'

/** Contents in memory, lost when the process ends. */
export class MemorySnapshots implements SnapshotStore {
  readonly maxFileBytes: number
  readonly #limits: SnapshotLimits
  readonly #agents = new Map<string, { readonly contents: Map<string, Uint8Array>; readonly index: SnapshotIndex }>()

  constructor(limits: SnapshotLimits = memorySnapshotLimits) {
    this.#limits = limits
    this.maxFileBytes = limits.maxFileBytes
  }

  async put(agentId: string, bytes: Uint8Array): Promise<string> {
    checkSnapshotSize(bytes, this)
    const id = snapshotId(bytes)
    const kept = this.#agents.get(agentId) ?? { contents: new Map<string, Uint8Array>(), index: new SnapshotIndex() }
    this.#agents.set(agentId, kept)
    if (!kept.contents.has(id)) kept.contents.set(id, bytes.slice())
    kept.index.use(id, bytes.length)
    for (let old = kept.index.excess(this.#limits); old !== undefined; old = kept.index.excess(this.#limits)) {
      kept.contents.delete(old)
      kept.index.drop(old)
    }
    return id
  }

  async get(agentId: string, id: string): Promise<Uint8Array | undefined> {
    return this.#agents.get(agentId)?.contents.get(id)?.slice()
  }

  /** Removes the contents that are kept for an agent. */
  delete(agentId: string): void {
    this.#agents.delete(agentId)
  }
}
