import type { Event } from '@ag-ui/core'

/** What was begun on the wire and is not ended: each part with the event that ends it. */
export class OpenParts {
  readonly #write: (event: Event) => void
  readonly #ends = new Map<string, Event>()

  constructor(write: (event: Event) => void) {
    this.#write = write
  }

  has(key: string): boolean {
    return this.#ends.has(key)
  }

  /** Begins a part, unless it is open. */
  open(key: string, start: Event, end: Event): void {
    if (this.#ends.has(key)) return
    this.#ends.set(key, end)
    this.#write(start)
  }

  /** Ends a part, `instead` of how it was to end; nothing when it is not open. */
  close(key: string, instead?: Event): void {
    const end = this.#ends.get(key)
    if (end === undefined) return
    this.#ends.delete(key)
    this.#write(instead ?? end)
  }

  /** Keys of open parts that begin so, the oldest first. */
  keys(prefix: string): string[] {
    return [...this.#ends.keys()].filter((key) => key.startsWith(prefix))
  }

  /** Ends those whose key begins so, the newest first. */
  closeAll(prefix = ''): void {
    for (const key of this.keys(prefix).toReversed()) this.close(key)
  }
}
