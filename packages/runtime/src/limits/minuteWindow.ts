const minute = 60_000

/** An amount that was used at a time. */
export interface Used {
  readonly at: number
  amount: number
}

/** The amounts used in the last 60 seconds. Times must not go back. */
export class MinuteWindow {
  #used: Used[] = []
  /** Index of the first entry within the last 60 seconds. */
  #first = 0
  #sum = 0

  add(amount: number, at: number): Used {
    const used = { at, amount }
    this.#used.push(used)
    this.#sum += amount
    return used
  }

  /** Replaces the amount of an entry. */
  correct(used: Used, amount: number, now: number): void {
    this.#forget(now)
    if (used.at + minute > now) this.#sum += amount - used.amount
    used.amount = amount
  }

  /** Returns the time from which this additional amount stays within `limit`; `now` if it already does. */
  fitsAt(amount: number, limit: number, now: number): number {
    this.#forget(now)
    let excess = this.#sum + amount - limit
    if (excess <= 0) return now
    for (let index = this.#first; index < this.#used.length; index++) {
      excess -= this.#used[index]!.amount
      if (excess <= 0) return this.#used[index]!.at + minute
    }
    return Infinity
  }

  #forget(now: number): void {
    for (;;) {
      const oldest = this.#used[this.#first]
      if (oldest === undefined || oldest.at + minute > now) break
      this.#sum -= oldest.amount
      this.#first += 1
    }
    if (this.#first < 64 || this.#first * 2 < this.#used.length) return
    this.#used = this.#used.slice(this.#first)
    this.#first = 0
  }
}
