import type { Event } from '@ag-ui/core'
import type { TextSocket } from '../bridge/endpoint.ts'
import type { Sink } from './sink.ts'

/** The runs of one socket share what may wait in it. */
export class SocketSink {
  readonly #socket: TextSocket
  readonly #highWaterBytes: number
  readonly #onDrain = new Set<() => void>()

  constructor(socket: TextSocket, highWaterBytes: number) {
    this.#socket = socket
    this.#highWaterBytes = highWaterBytes
  }

  /** Sends an event; `ids` tell which run it is of. */
  send(event: Event, ids: object): void {
    this.#socket.send(JSON.stringify({ ...ids, ...event }), () => this.#left())
  }

  /** Where the events of one run go; `onEnd`: no more come. */
  of(ids: { readonly threadId: string; readonly runId: string }, onEnd: () => void): Sink {
    const isFull = (): boolean => this.#socket.bufferedAmount > this.#highWaterBytes
    return {
      get isFull() {
        return isFull()
      },
      write: (event) => this.send(event, ids),
      onDrain: (call) => void this.#onDrain.add(call),
      end: onEnd,
    }
  }

  #left(): void {
    if (this.#onDrain.size === 0 || this.#socket.bufferedAmount > this.#highWaterBytes / 2) return
    const calls = [...this.#onDrain]
    this.#onDrain.clear()
    for (const call of calls) call()
  }
}
