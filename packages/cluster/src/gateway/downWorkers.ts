import type { Clock } from '../../../../src/protocol/ports/clock.ts'

/** Time for which an unreachable worker is not tried again, in milliseconds: the first time, and at most. */
const restMs = { first: 100, most: 5_000 } as const

interface Down {
  readonly until: number
  readonly failures: number
}

/** Workers that could not be reached, by address. They are not tried again for a while. */
export class DownWorkers {
  readonly #clock: Clock
  readonly #down = new Map<string, Down>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  failed(url: string): void {
    const failures = (this.#down.get(url)?.failures ?? 0) + 1
    const rest = Math.min(restMs.first * 2 ** (failures - 1), restMs.most)
    this.#down.set(url, { until: this.#clock.now() + rest, failures })
  }

  reached(url: string): void {
    this.#down.delete(url)
  }

  has(url: string): boolean {
    const down = this.#down.get(url)
    return down !== undefined && this.#clock.now() < down.until
  }
}
