import type { Clock } from '../../protocol/clock.ts'
import type { CliHost } from '../cliHost.ts'
import type { Key } from './input/keys.ts'

/** Who has pressed a key so shortly before is there, and needs no bell. */
const presentMs = 5_000
/** Who has pressed one within so long may press the next without having looked. */
const typingMs = 1_000

/** The bell of a terminal, for a person who looks elsewhere. */
export class Bell {
  readonly #host: Pick<CliHost, 'stdout' | 'isSilent'>
  readonly #clock: Clock
  /** As far as the terminal tells. */
  #isFocused: boolean | undefined
  #pressedAt: number | undefined

  constructor(host: Pick<CliHost, 'stdout' | 'isSilent'>, clock: Clock) {
    this.#host = host
    this.#clock = clock
  }

  /** Learns from a key; returns whether it is no more than a report of the terminal. */
  see(key: Key): boolean {
    const isReport = key.type === 'key' && (key.name === 'focusIn' || key.name === 'focusOut')
    if (isReport) this.#isFocused = key.name === 'focusIn'
    else this.#pressedAt = this.#clock.now()
    return isReport
  }

  /** How long until a person who types has paused; 0: nobody does. */
  get typesForMs(): number {
    if (this.#pressedAt === undefined || this.#isFocused === false) return 0
    return Math.max(0, typingMs - (this.#clock.now() - this.#pressedAt))
  }

  /** From now on the terminal reports nothing. */
  forget(): void {
    this.#isFocused = undefined
  }

  /** Rings, unless the terminal is in the foreground or a key was pressed just now, or no bell is wanted. */
  ring(): void {
    const isPresent = this.#pressedAt !== undefined && this.#clock.now() - this.#pressedAt < presentMs
    if (this.#host.isSilent === true || this.#isFocused === true || (isPresent && this.#isFocused === undefined)) return
    this.#host.stdout.write('\u0007')
  }
}
