import type { UpdateKind } from '../../../src/protocol/parts/remote/remoteRecords.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { cutMiddle } from '../../../src/protocol/text/cutMiddle.ts'

/** Minimum milliseconds between two records. */
const everyMs = 250
/** Maximum UTF-16 units of a record: less than 16 kB. */
const mostChars = 5_000
/** Maximum UTF-16 units of all records of a call. */
const mostInAll = 1_000_000

/** Writes a remote agent's work as records: bounded, and never more than four a second. */
export class Updates {
  readonly #clock: Clock
  readonly #write: (kind: UpdateKind, text: string) => void
  /** Texts that wait, in order of their kinds' arrival. */
  readonly #waiting = new Map<UpdateKind, string>()
  #left = mostInAll
  #last = -Infinity
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(clock: Clock, write: (kind: UpdateKind, text: string) => void) {
    this.#clock = clock
    this.#write = write
  }

  add(kind: UpdateKind, text: string): void {
    if (this.#isClosed || text === '' || this.#left <= 0) return
    const before = this.#waiting.get(kind) ?? ''
    // A line of its own, but for what arrives in pieces.
    const gap = before === '' || kind === 'text' || kind === 'thought' ? '' : '\n'
    this.#waiting.set(kind, cutMiddle(before + gap + text, mostChars))
    const wait = this.#last + everyMs - this.#clock.now()
    if (wait <= 0) this.#flush()
    else this.#cancel ??= this.#clock.after(wait, () => this.#flush())
  }

  /** Writes the waiting texts. Nothing is written afterwards. */
  close(): void {
    this.#cancel?.()
    while (this.#waiting.size > 0) this.#next()
    this.#isClosed = true
  }

  #flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#next()
    if (this.#waiting.size > 0) this.#cancel = this.#clock.after(everyMs, () => this.#flush())
  }

  #next(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [kind, text] = first
    this.#waiting.delete(kind)
    this.#last = this.#clock.now()
    this.#left -= text.length
    this.#write(kind, this.#left > 0 ? text : `${text}\n[… Further updates are not kept …]`)
    if (this.#left <= 0) this.#waiting.clear()
  }
}
