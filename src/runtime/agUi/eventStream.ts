import type { ServerResponse } from 'node:http'
import type { Event } from '@ag-ui/core'
import type { Clock } from '../../protocol/clock.ts'
import type { Sink } from './sink.ts'

/** Events as the answer to a request: server-sent events, with a comment now and then so that nobody takes it for dead. */
export class EventStream implements Sink {
  readonly #response: ServerResponse
  readonly #clock: Clock
  readonly #everyMs: number
  #cancel: () => void = () => {}

  constructor(response: ServerResponse, { clock, everyMs }: { readonly clock: Clock; readonly everyMs: number }) {
    this.#response = response
    this.#clock = clock
    this.#everyMs = everyMs
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    response.on('close', () => this.#cancel())
    response.on('error', () => this.#cancel())
    this.#keepAlive()
  }

  get isFull(): boolean {
    return this.#response.writableNeedDrain
  }

  write(event: Event): void {
    this.#response.write(`data: ${JSON.stringify(event)}\n\n`)
  }

  onDrain(call: () => void): void {
    this.#response.once('drain', call)
  }

  end(): void {
    this.#cancel()
    this.#response.end()
  }

  #keepAlive(): void {
    this.#cancel = this.#clock.after(this.#everyMs, () => {
      // Whoever does not read what waits is not told more.
      if (!this.isFull) this.#response.write(': still here\n\n')
      this.#keepAlive()
    })
  }
}
