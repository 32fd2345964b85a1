/** A list that grows at its end and is seldom cut. What it gave out is never changed, nor copied before somebody looks. */
export class GrowingList<T> {
  #items: T[] = []
  /** So many of the items lie in what was given out. */
  #given = 0

  get length(): number {
    return this.#items.length
  }

  get last(): T | undefined {
    return this.#items.at(-1)
  }

  at(index: number): T | undefined {
    return this.#items[index]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Cuts it to `length`. */
  cut(length: number): void {
    if (length < this.#given) this.#begin(length)
    else this.#items.length = length
  }

  replaceLast(item: T): void {
    this.cut(this.#items.length - 1)
    this.#items.push(item)
  }

  copy(): T[] {
    return this.#items.slice()
  }

  /** Gives what it holds now, when asked: the same array each time. */
  later(): () => readonly T[] {
    const items = this.#items
    const { length } = items
    this.#given = length
    let copy: readonly T[] | undefined
    return () => (copy ??= items.slice(0, length))
  }

  /** Goes on in an array of its own: others hold the one it had. */
  #begin(length: number): void {
    this.#items = this.#items.slice(0, length)
    this.#given = 0
  }
}
