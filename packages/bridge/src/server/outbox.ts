import type { ServerSocket } from './serverSocket.ts'

/** Limits for waiting data in a socket, in bytes. */
export interface Waterline {
  /** Number of bytes above which nothing more is sent until the socket has drained. */
  readonly high: number
  /** Number of bytes above which the client is disconnected. */
  readonly hard: number
}

/** Approximate size of the messages into which frames are gathered, in bytes. */
const messageBytes = 64 * 1024

/**
 * The sending end of one socket. Frames that are ready together share a message. Above the high waterline `isFull` is
 * true, and `onDrain` calls back once the socket has drained. It keeps no queue: senders continue from a cursor.
 */
export class Outbox {
  readonly #socket: ServerSocket
  readonly #waterline: Waterline
  #frames: string[] = []
  #bytes = 0
  #isFull = false
  readonly #onDrain = new Set<() => void>()
  readonly #onStuck: () => void

  constructor(socket: ServerSocket, waterline: Waterline, onStuck: () => void) {
    this.#socket = socket
    this.#waterline = waterline
    this.#onStuck = onStuck
  }

  /** Number of bytes that are being sent. */
  get waiting(): number {
    return this.#socket.bufferedAmount + this.#bytes
  }

  /** True if no more should be sent for now. */
  get isFull(): boolean {
    return this.#isFull || this.waiting > this.#waterline.high
  }

  /** Sends a serialised frame. Answers and errors are sent even when the outbox is full. */
  send(frame: string): void {
    if (this.#frames.length === 0) setImmediate(() => this.flush())
    this.#frames.push(frame)
    this.#bytes += frame.length
    if (this.#bytes > messageBytes) this.flush()
  }

  /** Calls `call` once the socket has drained. Use it only while the outbox is full. Returns a function that cancels it. */
  onDrain(call: () => void): () => void {
    this.#onDrain.add(call)
    return () => this.#onDrain.delete(call)
  }

  /** Sends the gathered frames to the socket. */
  flush(): void {
    const frames = this.#frames
    if (frames.length === 0) return
    this.#frames = []
    this.#bytes = 0
    if (this.#socket.readyState !== 1) return
    // What waits already counts, not this message: a single large one is no sign of a client that does not read.
    if (this.#socket.bufferedAmount > this.#waterline.hard) return this.#onStuck()
    const text = frames.length === 1 ? frames[0]! : `[${frames.join(',')}]`
    this.#socket.send(text, () => this.#drained())
    if (this.#socket.bufferedAmount > this.#waterline.high) this.#isFull = true
  }

  #drained(): void {
    if (this.#socket.bufferedAmount > this.#waterline.high / 2) return
    this.#isFull = false
    const calls = [...this.#onDrain]
    this.#onDrain.clear()
    for (const call of calls) call()
  }
}
