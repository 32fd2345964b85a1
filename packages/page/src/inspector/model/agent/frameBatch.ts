/** Runs `flush` with the next frame. Returns a function that cancels this. */
export type NextFrame = (flush: () => void) => () => void

/** Collects changes and publishes them once per frame: a thousand events make one rendering. */
export class FrameBatch {
  readonly #nextFrame: NextFrame
  #dirty = new Set<() => void>()
  #cancel: (() => void) | undefined

  constructor(nextFrame: NextFrame) {
    this.#nextFrame = nextFrame
  }

  /** Calls `update` with the next frame, once even if it is added several times before. */
  add(update: () => void): void {
    this.#dirty.add(update)
    this.#cancel ??= this.#nextFrame(() => this.flush())
  }

  /** Drops a waiting update. */
  remove(update: () => void): void {
    this.#dirty.delete(update)
  }

  /** Calls all waiting updates now. */
  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const dirty = this.#dirty
    this.#dirty = new Set()
    for (const update of dirty) update()
  }
}
