import type { TextSocket } from '../server/textSocket.ts'
import type { Sink } from './durableSink.ts'

/** The sinks of one socket's runs, which share its buffer. While the buffer is full, events wait for it to drain. */
export class SocketSink {
  readonly #socket: TextSocket
  readonly #highWaterBytes: number
  #waiting: object[] = []
  readonly #onDrain = new Set<() => void>()

  constructor(socket: TextSocket, highWaterBytes: number) {
    this.#socket = socket
    this.#highWaterBytes = highWaterBytes
  }

  /** Sends a frame immediately. */
  send(frame: object): void {
    this.#socket.send(JSON.stringify(frame), () => this.#flushWaiting())
  }

  /** Returns the sink of one run. `frameOf` converts its events to frames. `onEnd` is called when there are no more events. */
  of<Event>(frameOf: (event: Event) => object, onEnd: () => void): Sink<Event> {
    const isFull = (): boolean => this.#isFull
    return {
      get isFull() {
        return isFull()
      },
      write: (event) => {
        const frame = frameOf(event)
        if (this.#isFull) this.#waiting.push(frame)
        else this.send(frame)
      },
      onDrain: (call) => void this.#onDrain.add(call),
      end: onEnd,
    }
  }

  /** Discards the waiting frames after the client has left. */
  close(): void {
    this.#waiting = []
    this.#onDrain.clear()
  }

  get #isFull(): boolean {
    return this.#waiting.length > 0 || this.#socket.bufferedAmount > this.#highWaterBytes
  }

  #flushWaiting(): void {
    while (this.#socket.bufferedAmount <= this.#highWaterBytes / 2) {
      const next = this.#waiting.shift()
      if (next === undefined) return this.#drained()
      this.send(next)
    }
  }

  #drained(): void {
    const calls = [...this.#onDrain]
    this.#onDrain.clear()
    for (const call of calls) call()
  }
}
