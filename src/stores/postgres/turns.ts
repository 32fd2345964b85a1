/** Lets a number of pieces of work go on at a time; what is urgent goes first, else who came first. */
export class Turns {
  #free: number
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves with what ends the turn, once there is one. */
  async take(isUrgent = false): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => (isUrgent ? this.#urgent : this.#others).push(resolve))
    return () => this.#next()
  }

  #next(): void {
    const next = this.#urgent.shift() ?? this.#others.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}
