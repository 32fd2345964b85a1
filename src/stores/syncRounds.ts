import type { Clock } from '../protocol/clock.ts'

/**
 * When the files of one store are synced that share their syncs: at once while none is being synced; those that ask meanwhile
 * together, as soon as these have ended, and at most `batchMs` after they asked.
 */
export class SyncRounds {
  readonly #clock: Clock
  readonly #batchMs: number
  readonly #waiting = new Set<() => void>()
  #underWay = 0

  constructor(clock: Clock, batchMs: number) {
    this.#clock = clock
    this.#batchMs = batchMs
  }

  /** Calls `begin` when a file may be synced, perhaps before this returns; the function returned forgets it. */
  ask(begin: () => void): () => void {
    if (this.#underWay === 0) {
      begin()
      return () => {}
    }
    const forget = (): void => {
      cancelTimer()
      this.#waiting.delete(beginOnce)
    }
    const beginOnce = (): void => {
      forget()
      begin()
    }
    const cancelTimer = this.#clock.after(this.#batchMs, beginOnce)
    this.#waiting.add(beginOnce)
    return forget
  }

  /** Makes a sync; rejects as it does. */
  async sync(work: () => Promise<void>): Promise<void> {
    this.#underWay += 1
    try {
      await work()
    } finally {
      this.#underWay -= 1
      if (this.#underWay === 0) for (const begin of this.#waiting) begin()
    }
  }
}
