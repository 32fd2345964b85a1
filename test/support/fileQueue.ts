/** A test file that is to run. */
export interface QueuedFile {
  readonly file: string
  /** True if it needs a browser. */
  readonly isPage: boolean
  /** Number of the worker that has the resource which it shares with others: a browser, or a package that is built once for a process. */
  readonly home: number | undefined
  /** Resolves once the program that it needs is there or cannot be had; never rejects. `undefined`: it may run. */
  readonly held: Promise<void> | undefined
}

/**
 * Gives files to workers in order: to each first those that are at home with it, then those at home nowhere, then what is left; where nothing
 * is shared, none of what is at home elsewhere.
 */
export class FileQueue {
  readonly #waiting: QueuedFile[]
  readonly #isShared: boolean
  readonly #held = new Map<QueuedFile, Promise<void>>()

  constructor(files: readonly QueuedFile[], { isShared = true }: { readonly isShared?: boolean } = {}) {
    this.#waiting = [...files]
    this.#isShared = isShared
    for (const each of files)
      if (each.held !== undefined)
        this.#held.set(
          each,
          each.held.then(() => void this.#held.delete(each)),
        )
  }

  /** Resolves with the next file for a worker; `undefined` if there is none left. */
  async take(worker: number): Promise<QueuedFile | undefined> {
    for (;;) {
      const mine = this.#isShared ? this.#waiting : this.#waiting.filter(({ home = worker }) => home === worker)
      const free = mine.filter((each) => !this.#held.has(each))
      const atHome = (home: number | undefined): QueuedFile | undefined => free.find((each) => each.home === home)
      const next = atHome(worker) ?? atHome(undefined) ?? free[0]
      if (next !== undefined) {
        this.#waiting.splice(this.#waiting.indexOf(next), 1)
        return next
      }
      if (mine.length === 0) return undefined
      await Promise.race(this.#held.values())
    }
  }

  /** Removes all files, so that no more run. */
  clear(): void {
    this.#waiting.length = 0
  }
}
