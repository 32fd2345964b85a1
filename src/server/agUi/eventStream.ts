import type { ServerResponse } from 'node:http'
import { EventType, type Event } from '@ag-ui/core'
import type { Clock } from '../../protocol/clock.ts'
import type { Sink } from './durableSink.ts'

/**
 * Events as a response of server-sent events, with a comment now and then to keep it alive. Large events are written in pieces, the
 * next one once the connection has taken the last.
 */
export class EventStream implements Sink {
  readonly #response: ServerResponse
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #waiting: Event[] = []
  #pieces: Generator<string, void, undefined> | undefined
  #isEnded = false
  #onDrain: (() => void) | undefined
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
    if (!this.#isBusy) this.#response.end()
  }

  /** Writes as much as the connection takes; small events even if it is full, since little is sent then. */
  #pump(): void {
    for (;;) {
      if (this.#pieces === undefined) {
        const event = this.#waiting.shift()
        if (event === undefined) break
        this.#pieces = eventText(event)
      }
      const { value, done } = this.#pieces.next()
      if (done === true) this.#pieces = undefined
      else if (!this.#response.write(value)) return
    }
    if (this.#isEnded) return void this.#response.end()
    const drained = this.#onDrain
    this.#onDrain = undefined
    drained?.()
  }

  #close(): void {
    this.#cancel()
    this.#waiting.length = 0
    this.#pieces = undefined
  }

  #keepAlive(): void {
    this.#cancel = this.#clock.after(this.#everyMs, () => {
      // Nothing more for a client that is not reading.
      if (!this.isFull) this.#response.write(': still here\n\n')
      this.#keepAlive()
    })
  }
}

/** Longest piece of an event written at once, in UTF-16 units. */
const longestPiece = 64 * 1024

/** A server-sent event in pieces: a conversation is turned into text one message at a time. */
function* eventText(event: Event): Generator<string, void, undefined> {
  if (event.type !== EventType.MESSAGES_SNAPSHOT) return yield* piecesOf(`data: ${JSON.stringify(event)}\n\n`)
  const { messages, ...rest } = event
  let before = `data: ${JSON.stringify(rest).slice(0, -1)},"messages":[`
  for (const message of messages) {
    yield* piecesOf(before + JSON.stringify(message))
    before = ','
  }
  yield before === ',' ? ']}\n\n' : `${before}]}\n\n`
}

/** A text in pieces of limited length; no character is split. */
export function* piecesOf(text: string, longest = longestPiece): Generator<string, void, undefined> {
  let from = 0
  while (text.length - from > longest) {
    const to = isHighSurrogate(text.charCodeAt(from + longest - 1)) ? from + longest - 1 : from + longest
    yield text.slice(from, to)
    from = to
  }
  yield text.slice(from)
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
