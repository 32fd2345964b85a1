import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../../../../../src/protocol/ports/clock.ts'
import type { CliHost } from '../../cliHost.ts'
import { KeyReader, type Key } from './keys.ts'

/** Time in milliseconds for the rest of an escape sequence to arrive. After it the key was Esc. */
const restMs = 50

export interface KeyInputOptions {
  /** Called with the keys in a piece of input, in order. Contract: called at once, so that keys and pastes keep their order. */
  onKeys(keys: readonly Key[]): void
  /** Called when the terminal has gone away. */
  onEnd(): void
}

/** Reads the keys of a terminal, which is in raw mode until `close`. */
export class KeyInput {
  readonly #stdin: CliHost['stdin']
  readonly #clock: Clock
  readonly #options: KeyInputOptions
  readonly #decoder = new StringDecoder()
  readonly #reader = new KeyReader()
  #cancelTimer: (() => void) | undefined

  constructor(stdin: CliHost['stdin'], clock: Clock, options: KeyInputOptions) {
    this.#stdin = stdin
    this.#clock = clock
    this.#options = options
    this.setRawMode(true)
    stdin.on('data', this.#take)
    stdin.on('end', options.onEnd)
    stdin.resume()
  }

  setRawMode(isRaw: boolean): void {
    if (typeof this.#stdin.setRawMode === 'function') this.#stdin.setRawMode(isRaw)
  }

  /** Releases the terminal. */
  close(): void {
    this.#cancelTimer?.()
    this.#stdin.off('data', this.#take)
    this.#stdin.off('end', this.#options.onEnd)
    this.#stdin.pause()
    this.setRawMode(false)
  }

  #take = (chunk: Buffer | string): void => {
    this.#cancelTimer?.()
    this.#options.onKeys(this.#reader.take(typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)))
    if (this.#reader.isHolding)
      this.#cancelTimer = this.#clock.after(restMs, () => this.#options.onKeys(this.#reader.flush()))
  }
}
