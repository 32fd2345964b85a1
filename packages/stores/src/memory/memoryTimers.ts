import type { DueAgent, TimerIndex } from '../../../../src/protocol/ports/timers.ts'

/** Keeps the agents' times in memory. `check` refuses a writer that may not write. */
export class MemoryTimers implements TimerIndex {
  readonly #check: (agentId: string, epoch: number | undefined) => void
  readonly #times = new Map<string, number>()

  constructor(check: (agentId: string, epoch: number | undefined) => void) {
    this.#check = check
  }

  async set(agentId: string, due: number | null, epoch?: number): Promise<void> {
    this.#check(agentId, epoch)
    if (due === null) this.delete(agentId)
    else this.#times.set(agentId, due)
  }

  async due(now: number, limit = Infinity): Promise<readonly DueAgent[]> {
    const entries = [...this.#times].flatMap(([agentId, due]) => (due <= now ? [{ agentId, due }] : []))
    return entries.toSorted(byTime).slice(0, limit)
  }

  /** Removes the entry of an agent. */
  delete(agentId: string): void {
    this.#times.delete(agentId)
  }
}

/** Order of entries: by time, then by id. */
export const byTime = (a: DueAgent, b: DueAgent): number => a.due - b.due || (a.agentId < b.agentId ? -1 : 1)
