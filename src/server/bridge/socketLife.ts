import type { WebSocket } from 'ws'
import type { Clock } from '../../protocol/clock.ts'
import { closeCodes } from '../../protocol/frames.ts'

/** For a client to answer a close, in milliseconds. */
const closeMs = 2_000

/** What every socket of the server is held to: it answers pings, sends no flood, and goes when it is told to. */
export class SocketLife {
  readonly #socket: WebSocket
  readonly #clock: Clock
  readonly #framesPerSecond: number
  #frames = 0
  #isAlive = true
  #cancelCutOff: (() => void) | undefined

  constructor(socket: WebSocket, clock: Clock, framesPerSecond: number) {
    this.#socket = socket
    this.#clock = clock
    this.#framesPerSecond = framesPerSecond
    socket.on('pong', () => (this.#isAlive = true))
    // The close frame with the reason is on its way.
    socket.on('error', () => this.#cutOffLater())
    socket.on('close', () => this.#cancelCutOff?.())
  }

  get isOpen(): boolean {
    return this.#socket.readyState === 1
  }

  /** A message came; `false`: it is one too many in this second. */
  heard(): boolean {
    this.#isAlive = true
    this.#frames += 1
    return this.#frames <= this.#framesPerSecond
  }

  /** A second is over. */
  tick(): void {
    this.#frames = 0
  }

  /** Asks whether the client is there; gives it up when it did not answer the last time. */
  ping(): void {
    if (!this.#isAlive) return this.close(closeCodes.silent, 'no pong')
    this.#isAlive = false
    this.#socket.ping()
  }

  /** Closes; a client that does not answer that is cut off. */
  close(code: number, reason: string): void {
    if (this.#socket.readyState > 1) return
    this.#socket.close(code, reason)
    this.#cutOffLater()
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #cutOffLater(): void {
    this.#cancelCutOff ??= this.#clock.after(closeMs, () => this.#socket.terminate())
  }
}
