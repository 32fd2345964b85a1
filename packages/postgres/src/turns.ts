/** Lets a limited number of pieces of work run at a time; urgent ones go first, the others in the order in which they came. */
export class Turns {
  #free: number
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves with the function that ends the turn, once there is one. */
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
