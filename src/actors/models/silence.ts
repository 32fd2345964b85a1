import type { Clock } from '../../protocol/ports/clock.ts'
import type { ModelError } from '../../protocol/ports/model.ts'

/** Time for which a model may say nothing. */
export interface SilenceLimit {
  readonly clock: Clock
  readonly ms: number
}

export const silenceError = ({ ms }: SilenceLimit): ModelError => ({
  kind: 'network',
  message: `The model said nothing for ${ms} ms.`,
})

/** Calls `giveUp` once a part was awaited for too long. Uses one timer for all parts of a stream, which looks at the time when it fires. */
export class Silence {
  readonly #limit: SilenceLimit
  readonly #giveUp: () => void
  /** Time since which a part is awaited, if one is. */
  #since: number | undefined
  #isOver = false
  #cancel: (() => void) | undefined

  constructor(limit: SilenceLimit, giveUp: () => void) {
    this.#limit = limit
    this.#giveUp = giveUp
  }

  /** Notes that a part was asked for. */
  begin(): void {
    if (this.#isOver) return
    const { clock, ms } = this.#limit
    this.#since = clock.now()
    this.#cancel ??= clock.after(ms, this.#look)
  }

  /** Notes that the part came. */
  pause(): void {
    this.#since = undefined
  }

  end(): void {
    this.#isOver = true
    this.#cancel?.()
  }

  readonly #look = (): void => {
    const { clock, ms } = this.#limit
    const now = clock.now()
    // A clock that was set back would have it wait for as much longer.
    this.#since = this.#since === undefined ? undefined : Math.min(this.#since, now)
    const left = this.#since === undefined ? ms : this.#since + ms - now
    if (left > 0) this.#cancel = clock.after(left, this.#look)
    else this.#giveUp()
  }
}
