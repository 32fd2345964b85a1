/** Depths from which a trunk changed other than by growing. */
export class TrunkChanges {
  /** Depths of the changes; missing until there is one. */
  #depths: number[] | undefined

  /** Number of such changes. */
  get epoch(): number {
    return this.#depths?.length ?? 0
  }

  /** The lowest depth that changed since that epoch. */
  since(epoch: number): number {
    let depth = Infinity
    for (let i = epoch; i < this.epoch; i++) depth = Math.min(depth, this.#depths![i]!)
    return depth
  }

  add(depth: number): void {
    this.#depths ??= []
    this.#depths.push(depth)
  }
}
