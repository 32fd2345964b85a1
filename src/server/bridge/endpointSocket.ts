import type { WebSocket } from 'ws'
import type { Clock } from '../../protocol/clock.ts'
import { closeCodes } from '../../protocol/frames.ts'
import type { Connection } from './bridge.ts'
import type { TextSocket } from './endpoint.ts'
import { outwardMessage } from './outwardError.ts'
import { textOf } from './readFrame.ts'
import { SocketLife } from './socketLife.ts'

/** "Unsupported data" and "internal error" of the WebSocket protocol. */
const notTextCode = 1003
const brokenCode = 1011
/** Longest reason of a close: 123 bytes hold so many characters, whatever they are. */
const mostReason = 40

/** The limits a text socket keeps. */
interface SocketRules {
  readonly clock: Clock
  /** Messages a client may send within a second. */
  readonly framesPerSecond: number
  /** Bytes that may wait to be sent before the client is given up. */
  readonly hardLimitBytes: number
  /** Whether the token it came with still allows what it did. */
  readonly isGranted: () => boolean
}

/** The socket of somebody at an endpoint: kept alive and limited as those of the bridge are. */
export class EndpointSocket implements TextSocket, Connection {
  readonly #socket: WebSocket
  readonly #life: SocketLife
  readonly #hardLimitBytes: number
  readonly #isGranted: () => boolean
  #onText: (text: string) => void = () => {}

  constructor(socket: WebSocket, { clock, framesPerSecond, hardLimitBytes, isGranted }: SocketRules) {
    this.#socket = socket
    this.#life = new SocketLife(socket, clock, framesPerSecond)
    this.#hardLimitBytes = hardLimitBytes
    this.#isGranted = isGranted
    socket.on('message', (data, isBinary) => {
      if (!this.#life.isOpen) return
      if (!this.#life.heard()) this.close(closeCodes.flooded, 'too many frames')
      else if (isBinary) this.close(notTextCode, 'frames are text')
      else this.guard(() => this.#onText(textOf(data)))
    })
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount
  }

  send(text: string, done?: () => void): void {
    if (this.#socket.bufferedAmount > this.#hardLimitBytes) this.close(closeCodes.stuck, 'the client does not read')
    this.#socket.send(text, () => done?.())
  }

  /** Runs code of the endpoint: what it throws closes this socket, and harms nobody else. */
  guard(run: () => void): void {
    try {
      run()
    } catch (thrown) {
      this.close(brokenCode, outwardMessage(thrown).slice(0, mostReason))
    }
  }

  close(code: number, reason: string): void {
    this.#life.close(code, reason)
  }

  onText(listener: (text: string) => void): void {
    this.#onText = listener
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener)
  }

  tick(): void {
    this.#life.tick()
  }

  ping(): void {
    if (!this.#isGranted()) return this.close(closeCodes.goingAway, 'the token was changed')
    this.#life.ping()
  }

  leave(): void {
    this.close(closeCodes.goingAway, 'the server shuts down')
  }

  terminate(): void {
    this.#life.terminate()
  }
}
