/** A test file that is to run. */
export interface QueuedFile {
  readonly file: string
  /** Whether it wants a browser. */
  readonly isPage: boolean
  /** Settles, never rejects, once what it needs is there or cannot be had; `undefined`: it may run. */
  readonly held: Promise<void> | undefined
}

/** Gives files to workers, in order, but those with a browser to the same one as long as there are others: a browser for all. */
export class FileQueue {
  readonly #waiting: QueuedFile[]
  readonly #held = new Map<QueuedFile, Promise<void>>()

  constructor(files: readonly QueuedFile[]) {
    this.#waiting = [...files]
    for (const each of files)
      if (each.held !== undefined)
        this.#held.set(
          each,
          each.held.then(() => void this.#held.delete(each)),
        )
  }

  /** The next file; `undefined` when there is none any more. */
  async take(prefersPages: boolean): Promise<QueuedFile | undefined> {
    for (;;) {
      const free = this.#waiting.filter((each) => !this.#held.has(each))
      const next = free.find(({ isPage }) => isPage === prefersPages) ?? free[0]
      if (next !== undefined) {
        this.#waiting.splice(this.#waiting.indexOf(next), 1)
        return next
      }
      if (this.#waiting.length === 0) return undefined
      await Promise.race(this.#held.values())
    }
  }

  /** Nothing more is to run. */
  clear(): void {
    this.#waiting.length = 0
  }
}
