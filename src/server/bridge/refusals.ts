import type { Clock } from '../../protocol/clock.ts'
import type { Logger } from '../../protocol/logger.ts'

/** Lines of one kind within a minute; of those after that only how many there were. */
const mostLines = 5
const windowMs = 60_000
/** Longest text of a stranger's that is repeated, in UTF-16 units. */
const mostSaid = 200

/** What somebody is turned away for; each kind has lines of its own. */
export type RefusalKind =
  | 'origin'
  | 'host'
  | 'path'
  | 'protocol'
  | 'token'
  | 'session'
  | 'full'
  | 'hello'
  | 'flood'
  | 'store'

interface Window {
  told: number
  untold: number
}

/**
 * Tells the server's log who was turned away and why: what a browser hides from its page can be read there. A flood does not fill
 * the log: of each kind a few lines a minute, and then how many more there were.
 */
export class Refusals {
  readonly #logger: Logger | undefined
  readonly #clock: Clock
  readonly #windows = new Map<RefusalKind, Window>()
  #cancel: (() => void) | undefined

  constructor(logger: Logger | undefined, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  tell(kind: RefusalKind, what: string, fields: { readonly [name: string]: string | undefined } = {}): void {
    if (this.#logger === undefined) return
    const window = this.#windows.get(kind) ?? { told: 0, untold: 0 }
    this.#windows.set(kind, window)
    this.#cancel ??= this.#clock.after(windowMs, () => this.#close())
    if (window.told >= mostLines) return void (window.untold += 1)
    window.told += 1
    const said = Object.entries(fields).map(([name, value]) => [name, value?.slice(0, mostSaid).toWellFormed()])
    this.#write({ refused: kind, ...Object.fromEntries(said) }, what)
  }

  close(): void {
    this.#cancel?.()
    this.#close()
  }

  #close(): void {
    this.#cancel = undefined
    for (const [kind, { untold }] of this.#windows)
      if (untold > 0) this.#write({ refused: kind, count: untold }, `Turned away for the same reason: ${untold} more.`)
    this.#windows.clear()
  }

  /** A logger that throws harms nobody. */
  #write(fields: object, message: string): void {
    try {
      this.#logger?.warn(fields, message)
    } catch {
      // The runtime warns about its logger itself.
    }
  }
}
