export type RowKey = string | number

export interface RowLayoutOptions {
  readonly count: number
  /** Returns the key of a row, which is the same wherever the row stands. */
  readonly keyOf: (index: number) => RowKey
  /** Height in pixels of a row that was never measured; a number applies to every such row. */
  readonly estimate: number | ((index: number) => number)
}

/** Positions of the rows of a list: by their measured heights, and by estimates until they have been seen. All in pixels. */
export class RowLayout {
  readonly #heights = new Map<RowKey, number>()
  #options: RowLayoutOptions = { count: 0, keyOf: (index) => index, estimate: 0 }
  /** Start of each row, and the end of the last one. */
  #starts = new Float64Array(1)
  /** Index of the first start that is not computed yet. */
  #known = 1

  /** Replaces the rows. Does nothing if their count and both functions are the same as before. */
  take(options: RowLayoutOptions): void {
    const { count, keyOf, estimate } = this.#options
    this.#options = options
    const isSame = options.estimate === estimate && options.count === count
    // Rows of one height alone stand where they stand, whatever their keys are.
    if (isSame && (options.keyOf === keyOf || this.isExact)) return
    if (this.#starts.length < options.count + 1) {
      const longer = new Float64Array(Math.max(options.count + 1, this.#starts.length * 2))
      longer.set(this.#starts)
      this.#starts = longer
    }
    this.#known = 1
  }

  /** Takes the measured height of a row. Returns the difference from the height that was assumed. */
  measured(index: number, height: number): number {
    if (index >= this.#options.count) return 0
    const key = this.#options.keyOf(index)
    const before = this.heightOf(index)
    if (this.#heights.get(key) === height) return 0
    this.#heights.set(key, height)
    this.#known = Math.min(this.#known, index + 1)
    return height - before
  }

  /** True if no row is to be measured, because all have one height. */
  get isExact(): boolean {
    return typeof this.#options.estimate === 'number' && this.#heights.size === 0
  }

  /** Returns true if a row was measured. */
  isMeasured(index: number): boolean {
    return this.#heights.has(this.#options.keyOf(index))
  }

  heightOf(index: number): number {
    const { keyOf, estimate } = this.#options
    const known = this.#heights.size === 0 ? undefined : this.#heights.get(keyOf(index))
    return known ?? (typeof estimate === 'number' ? estimate : estimate(index))
  }

  startOf(index: number): number {
    const { count, estimate } = this.#options
    const at = Math.min(Math.max(index, 0), count)
    if (this.isExact) return at * (estimate as number)
    for (; this.#known <= at; this.#known += 1)
      this.#starts[this.#known] = this.#starts[this.#known - 1]! + this.heightOf(this.#known - 1)
    return this.#starts[at]!
  }

  /** Height of all rows together. */
  get total(): number {
    return this.startOf(this.#options.count)
  }

  /** Returns the index of the row at a distance from the top; -1 if there are no rows. */
  indexAt(offset: number): number {
    let low = 0
    let high = this.#options.count - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.startOf(middle) <= offset) low = middle
      else high = middle - 1
    }
    return high < 0 ? -1 : low
  }
}
