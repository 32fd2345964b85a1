import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { CliHost } from '../cliHost.ts'
import type { Key } from './input/keys.ts'

/** Milliseconds after a key press for which a person counts as present and needs no bell. */
const presentMs = 5_000
/** Milliseconds after a key press within which the next one may follow without a look at the screen. */
const typingMs = 1_000

/** The bell of a terminal, for a person who looks elsewhere. */
export class Bell {
  readonly #host: Pick<CliHost, 'stdout' | 'isSilent'>
  readonly #clock: Clock
  /** True or false as the terminal reported its focus; `undefined` if it has not. */
  #isFocused: boolean | undefined
  #pressedAt: number | undefined

  constructor(host: Pick<CliHost, 'stdout' | 'isSilent'>, clock: Clock) {
    this.#host = host
    this.#clock = clock
  }

  /** Learns from a key; returns true if it is only a report of the terminal. */
  see(key: Key): boolean {
    const isReport = key.type === 'key' && (key.name === 'focusIn' || key.name === 'focusOut')
    if (isReport) this.#isFocused = key.name === 'focusIn'
    else this.#pressedAt = this.#clock.now()
    return isReport
  }

  /** Milliseconds until a typing person has paused; 0 if there is none. */
  get typesForMs(): number {
    if (this.#pressedAt === undefined || this.#isFocused === false) return 0
    return Math.max(0, typingMs - (this.#clock.now() - this.#pressedAt))
  }

  /** Forgets the focus: the terminal stops reporting it. */
  forget(): void {
    this.#isFocused = undefined
  }

  /** Rings the bell, unless the terminal is in the foreground, a key was pressed just before, or no bell is wanted. */
  ring(): void {
    const isPresent = this.#pressedAt !== undefined && this.#clock.now() - this.#pressedAt < presentMs
    if (this.#host.isSilent === true || this.#isFocused === true || (isPresent && this.#isFocused === undefined)) return
    this.#host.stdout.write('\u0007')
  }
}
