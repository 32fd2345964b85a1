/** Gives each beginning of a list a number, the same for equal beginnings. */
export class PrefixTree<T extends object> {
  readonly #next: Map<T, number>[] = [new Map()]

  /** The numbers of the beginnings of a list, the shortest first. */
  follow(values: readonly T[]): number[] {
    let node = 0
    return values.map((value) => {
      const children = this.#next[node]!
      let child = children.get(value)
      if (child === undefined) {
        child = this.#next.push(new Map()) - 1
        children.set(value, child)
      }
      return (node = child)
    })
  }
}
