import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { CliHost } from '../cliHost.ts'
import type { Key } from './input/keys.ts'

/** Milliseconds after a key press during which a person counts as present and needs no bell. */
const presentMs = 5_000
/** Milliseconds after a key press within which the next one may follow without a look at the screen. */
const typingMs = 1_000

/** Rings a terminal's bell for a person who may be looking elsewhere. */
export class Bell {
  readonly #host: Pick<CliHost, 'stdout' | 'isSilent'>
  readonly #clock: Clock
  /** Focus as last reported by the terminal; `undefined` if it has not reported any. */
  #isFocused: boolean | undefined
  #pressedAt: number | undefined

  constructor(host: Pick<CliHost, 'stdout' | 'isSilent'>, clock: Clock) {
    this.#host = host
    this.#clock = clock
  }

  /** Takes in a key. Returns true if it is only a report from the terminal. */
  see(key: Key): boolean {
    const isReport = key.type === 'key' && (key.name === 'focusIn' || key.name === 'focusOut')
    if (isReport) this.#isFocused = key.name === 'focusIn'
    else this.#pressedAt = this.#clock.now()
    return isReport
  }

  /** Milliseconds until a typing person counts as pausing; 0 if nobody types. */
  get typesForMs(): number {
    if (this.#pressedAt === undefined || this.#isFocused === false) return 0
    return Math.max(0, typingMs - (this.#clock.now() - this.#pressedAt))
  }

  /** Forgets the focus, because the terminal stops reporting it. */
  forget(): void {
    this.#isFocused = undefined
  }

  /** Rings the bell, unless the terminal has the focus, a key was pressed just before, or no bell is wanted. */
  ring(): void {
    const isPresent = this.#pressedAt !== undefined && this.#clock.now() - this.#pressedAt < presentMs
    if (this.#host.isSilent === true || this.#isFocused === true || (isPresent && this.#isFocused === undefined)) return
    this.#host.stdout.write('\u0007')
  }
}
