import type { WebSocket } from 'ws'
import type { Clock } from '../../protocol/clock.ts'
import { closeCodes } from '../../protocol/frames.ts'
import type { TextSocket } from './endpoint.ts'
import { textOf } from './readFrame.ts'

/** For a client to answer a close, in milliseconds. */
const closeMs = 2_000
/** "Unsupported data" of the WebSocket protocol. */
const notTextCode = 1003

/** The limits a text socket keeps. */
interface SocketRules {
  readonly clock: Clock
  /** Messages a client may send within a second. */
  readonly framesPerSecond: number
  /** Bytes that may wait to be sent before the client is given up. */
  readonly hardLimitBytes: number
}

/** The socket of somebody at an endpoint: kept alive and limited as those of the bridge are. */
export class EndpointSocket implements TextSocket {
  readonly #socket: WebSocket
  readonly #rules: SocketRules
  #onText: (text: string) => void = () => {}
  #frames = 0
  #isAlive = true
  #cancelCutOff: (() => void) | undefined

  constructor(socket: WebSocket, rules: SocketRules) {
    this.#socket = socket
    this.#rules = rules
    socket.on('message', (data, isBinary) => {
      if (socket.readyState !== 1) return
      this.#isAlive = true
      this.#frames += 1
      if (this.#frames > rules.framesPerSecond) this.close(closeCodes.flooded, 'too many frames')
      else if (isBinary) this.close(notTextCode, 'frames are text')
      else this.#onText(textOf(data))
    })
    socket.on('pong', () => (this.#isAlive = true))
    socket.on('error', () => this.#cutOffLater())
    socket.on('close', () => this.#cancelCutOff?.())
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount
  }

  send(text: string, done?: () => void): void {
    if (this.#socket.bufferedAmount > this.#rules.hardLimitBytes) {
      this.close(closeCodes.stuck, 'the client does not read')
    }
    this.#socket.send(text, () => done?.())
  }

  close(code: number, reason: string): void {
    if (this.#socket.readyState > 1) return
    this.#socket.close(code, reason)
    this.#cutOffLater()
  }

  onText(listener: (text: string) => void): void {
    this.#onText = listener
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener)
  }

  tick(): void {
    this.#frames = 0
  }

  ping(): void {
    if (!this.#isAlive) return this.close(closeCodes.silent, 'no pong')
    this.#isAlive = false
    this.#socket.ping()
  }

  /** The server shuts down. */
  leave(): void {
    this.close(closeCodes.goingAway, 'the server shuts down')
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #cutOffLater(): void {
    this.#cancelCutOff ??= this.#rules.clock.after(closeMs, () => this.#socket.terminate())
  }
}
