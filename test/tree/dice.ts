/** Random numbers that are the same for a seed. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) >>> 0
  }

  /** From 0 to 1 (mulberry32). */
  readonly roll = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.roll() * (to - from + 1))
  }

  /** So many times of a hundred. */
  percent(share: number): boolean {
    return this.roll() * 100 < share
  }

  /** One of them; `undefined` of none. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.roll() * items.length)]
  }

  /** One of them, as likely as its weight says. */
  weighted<T extends string>(weights: { readonly [W in T]: number }): T {
    const entries = Object.entries(weights) as [T, number][]
    let left = this.roll() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [item, weight] of entries) if ((left -= weight) < 0) return item
    return entries[0]![0]
  }
}
