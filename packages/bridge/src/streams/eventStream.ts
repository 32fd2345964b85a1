import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Sink } from './durableSink.ts'

interface EventStreamOptions<Event> {
  readonly clock: Clock
  /** Interval between the comments that keep the response alive, in milliseconds. */
  readonly everyMs: number
  /** Yields an event in server-sent form, in pieces: see `serverSent`. */
  textOf(event: Event): Generator<string, void, undefined>
  readonly headers?: Readonly<Record<string, string>>
  /** Text that is written after the last event. */
  readonly last?: string
}

/**
 * Events as a response of server-sent events, with a regular comment to keep it alive. Large events are written
 * in pieces, each once the connection has taken the previous one.
 */
export class EventStream<Event> implements Sink<Event> {
  readonly #response: ServerResponse
  readonly #options: EventStreamOptions<Event>
  readonly #waiting: Event[] = []
  #pieces: Generator<string, void, undefined> | undefined
  #isEnded = false
  #onDrain: (() => void) | undefined
  #cancel: () => void = () => {}

  constructor(response: ServerResponse, options: EventStreamOptions<Event>) {
    this.#response = response
    this.#options = options
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...options.headers,
    })
    // The first event may wait for the store.
    response.flushHeaders()
    response.on('close', () => this.#close())
    response.on('error', () => this.#close())
    response.on('drain', () => this.#pump())
    this.#keepAlive()
  }

  get isFull(): boolean {
    return this.#isBusy || this.#response.writableNeedDrain
  }

  get #isBusy(): boolean {
    return this.#pieces !== undefined || this.#waiting.length > 0
  }

  write(event: Event): void {
    this.#waiting.push(event)
    if (this.#pieces === undefined && this.#waiting.length === 1) this.#pump()
  }

  onDrain(call: () => void): void {
    this.#onDrain = call
  }

  end(): void {
    this.#isEnded = true
    this.#cancel()
    if (!this.#isBusy) this.#finish()
  }

  /** Writes as much as the connection takes. Small events are written even if it is full, because they add little. */
  #pump(): void {
    for (;;) {
      if (this.#pieces === undefined) {
        const event = this.#waiting.shift()
        if (event === undefined) break
        this.#pieces = this.#options.textOf(event)
      }
      const { value, done } = this.#pieces.next()
      if (done === true) this.#pieces = undefined
      else if (!this.#response.write(value)) return
    }
    if (this.#isEnded) return this.#finish()
    const drained = this.#onDrain
    this.#onDrain = undefined
    drained?.()
  }

  #finish(): void {
    this.#response.end(this.#options.last)
  }

  #close(): void {
    this.#cancel()
    this.#waiting.length = 0
    this.#pieces = undefined
  }

  #keepAlive(): void {
    const { clock, everyMs } = this.#options
    this.#cancel = clock.after(everyMs, () => {
      // Nothing more for a client that is not reading.
      if (!this.isFull) this.#response.write(': still here\n\n')
      this.#keepAlive()
    })
  }
}
