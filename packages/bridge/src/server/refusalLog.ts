import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'

/** Maximum number of lines of one kind per minute. Further ones are only counted. */
const maxLines = 5
const windowMs = 60_000
/** Maximum length of a client's quoted text, in UTF-16 units. */
const maxFieldChars = 200

/** Kind of a rejection; each kind is limited separately. */
export type RefusalKind =
  | 'origin'
  | 'host'
  | 'path'
  | 'protocol'
  | 'token'
  | 'authenticate'
  | 'session'
  | 'full'
  | 'hello'
  | 'flood'
  | 'store'
  | 'directory'
  | 'worker'
  | 'agent'

interface Window {
  logged: number
  suppressed: number
}

/**
 * Logs rejected clients on the server, because a browser hides the reason from its page. A flood does not fill
 * the log: each kind gets a few lines a minute, and then the number of omitted ones.
 */
export class RefusalLog {
  readonly #logger: Logger | undefined
  readonly #clock: Clock
  readonly #windows = new Map<RefusalKind, Window>()
  readonly #counts = new Map<RefusalKind, number>()
  #cancel: (() => void) | undefined

  constructor(logger: Logger | undefined, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  /** Number of rejections, by kind. */
  get counts(): { readonly [kind: string]: number } {
    return Object.fromEntries(this.#counts)
  }

  log(kind: RefusalKind, what: string, fields: { readonly [name: string]: string | undefined } = {}): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
    if (this.#logger === undefined) return
    const window = this.#windows.get(kind) ?? { logged: 0, suppressed: 0 }
    this.#windows.set(kind, window)
    this.#cancel ??= this.#clock.after(windowMs, () => this.#endWindow())
    if (window.logged >= maxLines) return void (window.suppressed += 1)
    window.logged += 1
    const shown = Object.entries(fields).map(([name, value]) => [name, value?.slice(0, maxFieldChars).toWellFormed()])
    this.#write({ refused: kind, ...Object.fromEntries(shown) }, what)
  }

  close(): void {
    this.#cancel?.()
    this.#endWindow()
  }

  #endWindow(): void {
    this.#cancel = undefined
    for (const [kind, { suppressed }] of this.#windows)
      if (suppressed > 0)
        this.#write({ refused: kind, count: suppressed }, `Turned away for the same reason: ${suppressed} more.`)
    this.#windows.clear()
  }

  /** Writes a line. Errors of the logger are ignored. */
  #write(fields: object, message: string): void {
    try {
      this.#logger?.warn(fields, message)
    } catch {
      // The runtime warns about its logger itself.
    }
  }
}
