import { callbackBugs, isLikelyBug } from '../../../../src/protocol/callbackBugs.ts'
import type { WebSocket } from 'ws'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import type { Connection } from './connections.ts'
import type { TextSocket } from './textSocket.ts'
import { outwardMessage } from './outwardError.ts'
import { messageText } from './readFrame.ts'
import { brokenCode, SocketGuard, type SocketRules } from './socketGuard.ts'

/** Close code for "unsupported data" in the WebSocket protocol. */
const notTextCode = 1003

/** The limits a text socket keeps. */
interface TextSocketRules extends SocketRules {
  /** Number of waiting bytes above which the client is disconnected. */
  readonly hardLimitBytes: number
}

/** An endpoint's WebSocket, with the same heartbeat and limits as the bridge's sockets. */
export class EndpointSocket implements TextSocket, Connection {
  readonly #socket: WebSocket
  readonly #guard: SocketGuard
  readonly #hardLimitBytes: number
  #onText: (text: string) => void = () => {}

  constructor(socket: WebSocket, rules: TextSocketRules) {
    this.#socket = socket
    this.#guard = new SocketGuard(socket, rules)
    this.#hardLimitBytes = rules.hardLimitBytes
    socket.on('message', (data, isBinary) => {
      if (!this.#guard.isOpen) return
      if (!this.#guard.admit()) this.close(closeCodes.flooded, 'too many frames')
      else if (isBinary) this.close(notTextCode, 'frames are text')
      else this.run(() => this.#onText(messageText(data)))
    })
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount
  }

  send(text: string, done?: () => void): void {
    if (this.#socket.bufferedAmount > this.#hardLimitBytes) this.close(closeCodes.stuck, 'the client does not read')
    this.#socket.send(text, () => done?.())
  }

  /** Runs code of the endpoint: if it throws, only this socket is closed. */
  run(code: () => void): void {
    try {
      code()
    } catch (thrown) {
      if (isLikelyBug(thrown)) callbackBugs.tell('An endpoint', thrown)
      this.close(brokenCode, outwardMessage(thrown))
    }
  }

  close(code: number, reason: string): void {
    this.#guard.close(code, reason)
  }

  onText(listener: (text: string) => void): void {
    this.#onText = listener
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener)
  }

  tick(): void {
    this.#guard.tick()
  }

  ping(): void {
    this.#guard.ping()
  }

  leave(): void {
    this.close(closeCodes.goingAway, 'the server shuts down')
  }

  terminate(): void {
    this.#guard.terminate()
  }
}
