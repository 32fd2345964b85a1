import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import type { ServerSocket } from './serverSocket.ts'

/** Close code for an internal error in the WebSocket protocol. */
export const brokenCode = 1011
/** Time limit for a client to answer a close, in milliseconds. */
const closeMs = 2_000
/** Maximum length of a close reason in bytes of UTF-8. With a longer one the socket throws. */
const mostReasonBytes = 123

/** Rules for a socket. */
export interface SocketRules {
  readonly clock: Clock
  /** Maximum number of messages that a client may send within a second. */
  readonly framesPerSecond: number
  /** Returns true while the token of the socket still allows the same. */
  readonly isGranted: () => boolean
}

/** Guards a socket of the server: heartbeat, rate limit, a token that is still valid, and a close that does not hang. */
export class SocketGuard {
  readonly #socket: ServerSocket
  readonly #rules: SocketRules
  #frames = 0
  /** State of the socket. `pinged`: no message has arrived since the last ping. `closing`: it is terminated if it does not close in time. */
  #state: 'alive' | 'pinged' | 'closing' = 'alive'
  #cancelTermination: (() => void) | undefined

  constructor(socket: ServerSocket, rules: SocketRules) {
    this.#socket = socket
    this.#rules = rules
    socket.on('pong', () => this.#showLife())
    // The close frame with the reason is on its way.
    socket.on('error', () => this.#terminateLater())
    socket.on('close', () => this.#cancelTermination?.())
  }

  get isOpen(): boolean {
    return this.#socket.readyState === 1
  }

  /** Counts a message; returns `false` if it exceeds the limit for this second. */
  admit(): boolean {
    this.#showLife()
    this.#frames += 1
    return this.#frames <= this.#rules.framesPerSecond
  }

  /** Resets the count of messages; called every second. */
  tick(): void {
    this.#frames = 0
  }

  /** Pings the client; disconnects it if it did not answer the last ping, or if its token was changed. */
  ping(): void {
    if (!this.#rules.isGranted()) return this.close(closeCodes.goingAway, 'the token was changed')
    if (this.#state === 'pinged') return this.close(closeCodes.silent, 'no pong')
    if (this.#state === 'closing') return
    this.#state = 'pinged'
    this.#socket.ping()
  }

  /** Closes the socket. A client that does not answer is cut off. */
  close(code: number, reason: string): void {
    if (this.#socket.readyState > 1) return
    this.#socket.close(code, withinFrame(reason))
    this.#terminateLater()
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #showLife(): void {
    if (this.#state === 'pinged') this.#state = 'alive'
  }

  #terminateLater(): void {
    this.#state = 'closing'
    this.#cancelTermination ??= this.#rules.clock.after(closeMs, () => this.#socket.terminate())
  }
}

/** Returns as much of a reason as the close frame of a WebSocket holds. */
function withinFrame(reason: string): string {
  const bytes = Buffer.from(reason)
  if (bytes.length <= mostReasonBytes) return reason
  // In a stream, the decoder waits for the rest of a last character that was cut.
  return new TextDecoder().decode(bytes.subarray(0, mostReasonBytes), { stream: true })
}
