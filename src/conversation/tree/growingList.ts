/** A list that grows at its end and is rarely truncated. Returned views never change, and are copied only when read. */
export class GrowingList<T> {
  #items: T[] = []
  /** Number of items that belong to returned views. */
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

  /** Truncates it to `length`. */
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

  /** Returns a function that returns the current items, the same array each time. They are copied on its first call. */
  later(): () => readonly T[] {
    const items = this.#items
    const { length } = items
    this.#given = length
    let copy: readonly T[] | undefined
    return () => (copy ??= items.slice(0, length))
  }

  /** Continues in a new array, because views still use the old one. */
  #begin(length: number): void {
    this.#items = this.#items.slice(0, length)
    this.#given = 0
  }
}
