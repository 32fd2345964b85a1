import type { Event } from '@ag-ui/core'
import type { TextSocket } from '../bridge/endpoint.ts'
import type { Sink } from './durableSink.ts'

/** The sinks of one socket's runs, which share its buffer: while that is full, events wait for it to drain. */
export class SocketSink {
  readonly #socket: TextSocket
  readonly #highWaterBytes: number
  #waiting: { readonly event: Event; readonly ids: object }[] = []
  readonly #onDrain = new Set<() => void>()

  constructor(socket: TextSocket, highWaterBytes: number) {
    this.#socket = socket
    this.#highWaterBytes = highWaterBytes
  }

  /** Sends an event at once; `ids` name its run. */
  send(event: Event, ids: object): void {
    this.#socket.send(JSON.stringify({ ...ids, ...event }), () => this.#flushWaiting())
  }

  /** The sink of one run; `onEnd`: there are no more events. */
  of(ids: { readonly threadId: string; readonly runId: string }, onEnd: () => void): Sink {
    const isFull = (): boolean => this.#isFull
    return {
      get isFull() {
        return isFull()
      },
      write: (event) => {
        if (this.#isFull) this.#waiting.push({ event, ids })
        else this.send(event, ids)
      },
      onDrain: (call) => void this.#onDrain.add(call),
      end: onEnd,
    }
  }

  /** The client has left. */
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
      this.send(next.event, next.ids)
    }
  }

  #drained(): void {
    const calls = [...this.#onDrain]
    this.#onDrain.clear()
    for (const call of calls) call()
  }
}
