import type { Event } from '@ag-ui/core'

/** Parts that were started and not yet ended on the wire, each with the event that ends it. */
export class OpenParts {
  readonly #write: (event: Event) => void
  readonly #ends = new Map<string, Event>()

  constructor(write: (event: Event) => void) {
    this.#write = write
  }

  has(key: string): boolean {
    return this.#ends.has(key)
  }

  /** Starts a part, unless it is open already. */
  open(key: string, start: Event, end: Event): void {
    if (this.#ends.has(key)) return
    this.#ends.set(key, end)
    this.#write(start)
  }

  /** Ends a part if it is open. `instead` replaces the event that ends it. */
  close(key: string, instead?: Event): void {
    const end = this.#ends.get(key)
    if (end === undefined) return
    this.#ends.delete(key)
    this.#write(instead ?? end)
  }

  /** Returns the keys of open parts with a prefix, oldest first. */
  keys(prefix: string): string[] {
    return [...this.#ends.keys()].filter((key) => key.startsWith(prefix))
  }

  /** Ends the parts with a prefix, newest first. */
  closeAll(prefix = ''): void {
    for (const key of this.keys(prefix).toReversed()) this.close(key)
  }
}
