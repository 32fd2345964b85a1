import type { Checkpoint, CheckpointStore } from '../../protocol/ports/checkpoints.ts'

/** Checkpoints in memory, lost when the process ends. `check` refuses a writer that may not write. */
export class MemoryCheckpoints implements CheckpointStore {
  readonly isVolatile = true
  readonly keepsShared = true
  readonly #check: (agentId: string, epoch: number | undefined) => void
  readonly #checkpoints = new Map<string, Checkpoint>()

  constructor(check: (agentId: string, epoch: number | undefined) => void) {
    this.#check = check
  }

  async read(agentId: string): Promise<Checkpoint | undefined> {
    return this.#checkpoints.get(agentId)
  }

  async write(agentId: string, checkpoint: Checkpoint, epoch?: number): Promise<void> {
    this.#check(agentId, epoch)
    this.#checkpoints.set(agentId, checkpoint)
  }

  /** Removes the checkpoint of an agent. */
  delete(agentId: string): void {
    this.#checkpoints.delete(agentId)
  }
}
