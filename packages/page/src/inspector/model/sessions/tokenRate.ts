/** Period of a rate, in milliseconds: replies are counted when they end. */
const windowMs = 10_000

/** Growth of a count that is sampled from time to time. */
export class GrowthRate {
  #seen: { readonly at: number; readonly count: number }[] = []

  /** Takes the current count, and returns its recent growth per second. A count that shrank or a clock that jumped starts over. */
  see(count: number, at: number): number {
    const last = this.#seen.at(-1)
    if (last !== undefined && (count < last.count || at < last.at || at - last.at > 3 * windowMs)) this.#seen = []
    if (last === undefined || this.#seen.length === 0 || count !== last.count || at - last.at >= 500)
      this.#seen.push({ at, count })
    while (this.#seen.length > 1 && this.#seen[1]!.at <= at - windowMs) this.#seen.shift()
    const [first] = this.#seen
    if (first === undefined || at - first.at < 1_000) return 0
    return ((count - first.count) * 1_000) / (at - first.at)
  }
}
