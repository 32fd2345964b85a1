import { WebSocket, type RawData } from 'ws'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { bridgeProtocol, closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { compression } from '../../../bridge/src/server/compression.ts'
import { messageText } from '../../../bridge/src/server/readFrame.ts'
import { brokenCode } from '../../../bridge/src/server/socketGuard.ts'
import { framesIn, type WorkerFrame } from './workerFrames.ts'

/** Time limits for a worker to accept a client, and to show that it is alive, in milliseconds. */
const handshakeMs = 3_000
const pingMs = 2_000
/** Maximum size of a worker's message, in bytes: a record of at most 256 MiB, and its frame. */
const messageBytes = 300 * 1024 * 1024

interface UpstreamOwner {
  readonly clock: Clock
  frame(frame: WorkerFrame, from: Upstream): void
  /** Called when the connection is closed for good; `why` is set if something is wrong with the worker. */
  closed(from: Upstream, why: string | undefined): void
}

/** Close codes for a client that is too fast or too slow, or for a log that cannot be read. They indicate no fault of the worker. */
const notItsFault: ReadonlySet<number> = new Set([closeCodes.flooded, closeCodes.silent, brokenCode])

/** Connection of one client to one worker. */
export class Upstream {
  readonly url: string
  readonly #owner: UpstreamOwner
  readonly #socket: WebSocket
  readonly #welcome = Promise.withResolvers<WorkerFrame>()
  #queue: string[] | undefined = []
  #cancel: () => void = () => {}
  #isAlive = true
  #isPaused = false
  #why: string | undefined

  /** `token`: identifies the client. */
  constructor(url: string, token: string, owner: UpstreamOwner) {
    this.url = url
    this.#owner = owner
    this.#welcome.promise.catch(() => {})
    const socket = new WebSocket(url, [bridgeProtocol], {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: handshakeMs,
      maxPayload: messageBytes,
      perMessageDeflate: compression,
      followRedirects: false,
    })
    this.#socket = socket
    socket.on('open', () => socket.send('{"type":"hello"}'))
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary))
    socket.on('pong', () => (this.#isAlive = true))
    socket.on('error', (error) => (this.#why ??= error.message))
    socket.on('close', (code, reason) => this.#closed(code, reason.toString()))
    this.#watch()
  }

  /** Resolves with the worker's `welcome` frame; rejects if the worker does not let the client in. */
  get welcome(): Promise<WorkerFrame> {
    return this.#welcome.promise
  }

  /** Sends a frame once the worker has sent `welcome`. */
  send(frame: object): void {
    const text = JSON.stringify(frame)
    if (this.#queue === undefined) this.#socket.send(text, () => {})
    else this.#queue.push(text)
  }

  /** Stops reading once the worker has sent `welcome`; frames sent meanwhile still reach the worker. */
  pause(): void {
    this.#isPaused = true
    if (this.#queue === undefined) this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#isAlive = true
    this.#socket.resume()
  }

  close(): void {
    this.#cancel()
    this.#socket.close(1000)
    // One that does not answer is not waited for.
    this.#cancel = this.#owner.clock.after(pingMs, () => this.#socket.terminate())
  }

  /** Closes the connection because of a fault of the worker. */
  #fail(why: string): void {
    this.#why ??= why
    this.#socket.terminate()
  }

  #watch(): void {
    this.#cancel = this.#owner.clock.after(pingMs, () => {
      if (this.#socket.isPaused) this.#isAlive = true
      if (!this.#isAlive && this.#socket.readyState === 1) return this.#fail('it does not answer')
      if (this.#socket.readyState === 1) {
        this.#isAlive = false
        this.#socket.ping()
      }
      this.#watch()
    })
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#isAlive = true
    const frames = isBinary ? undefined : framesIn(messageText(data))
    if (frames === undefined) return this.#fail('it sent what is no frame')
    for (const frame of frames) {
      if (frame.type === 'welcome') this.#opened(frame)
      else if (frame.type === 'error' && frame.id === undefined && this.#queue !== undefined)
        this.#why ??= frame.message
      else this.#owner.frame(frame, this)
    }
  }

  #opened(welcome: WorkerFrame): void {
    const queue = this.#queue ?? []
    this.#queue = undefined
    if (this.#isPaused) this.#socket.pause()
    for (const text of queue) this.#socket.send(text, () => {})
    this.#welcome.resolve(welcome)
  }

  #closed(code: number, reason: string): void {
    this.#cancel()
    const why = this.#why ?? `it closed with ${code}${reason === '' ? '' : ` (${reason})`}`
    this.#welcome.reject(new Error(why))
    this.#owner.closed(this, notItsFault.has(code) ? undefined : why)
  }
}
