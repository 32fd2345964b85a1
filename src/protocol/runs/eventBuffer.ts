import type { AgentEvent } from '../events.ts'

/** Number of buffered events above which text deltas are joined, and above which the oldest are dropped. */
const joinAbove = 256
const dropAbove = 4_096
/** Value of `joinAbove` until someone starts to read. Most runs are awaited and their events never read. */
const joinUnreadAbove = 32

type TextDelta = Extract<AgentEvent, { type: 'reply.delta' | 'thinking.delta' }>

/**
 * Buffer of events for one `for await`, with at most `dropAbove` events. A slow reader first gets neighbouring deltas joined, then an
 * `events.dropped` in place of the oldest events.
 */
export class EventBuffer implements AsyncIterableIterator<AgentEvent> {
  #events: (AgentEvent | undefined)[] = []
  #first = 0
  #dropped = 0
  #isClosed = false
  #joinAbove = joinUnreadAbove
  /** The last event, if it is the buffer's own copy, into which others were joined. It grows in place. */
  #joined: { -readonly [K in keyof TextDelta]: TextDelta[K] } | undefined
  #waiting: (() => void)[] = []
  readonly #onReturn: () => void

  constructor(onReturn: () => void = () => {}) {
    this.#onReturn = onReturn
  }

  push(event: AgentEvent): void {
    if (this.#isClosed) return
    const waiting = this.#events.length - this.#first
    if (waiting >= this.#joinAbove && this.#join(event)) return
    if (waiting >= dropAbove) {
      this.#shift()
      this.#dropped += 1
    }
    this.#joined = undefined
    this.#events.push(event)
    if (this.#waiting.length > 0) this.#waiting.shift()!()
  }

  /** Ends the events. Buffered ones can still be read. */
  close(): void {
    this.#isClosed = true
    this.#wakeAll()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#joinAbove = joinAbove
    while (this.#first === this.#events.length) {
      if (this.#isClosed) return { done: true, value: undefined }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return { done: false, value: this.#take() }
  }

  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#isClosed = true
    this.#events = []
    this.#first = 0
    this.#wakeAll()
    this.#onReturn()
    return { done: true, value: undefined }
  }

  #take(): AgentEvent {
    const event = this.#events[this.#first]!
    if (this.#dropped > 0) {
      const { agentId, path, seq, time } = event
      const count = this.#dropped
      this.#dropped = 0
      const at = 'runId' in event ? { runId: event.runId, turnIndex: event.turnIndex } : { runId: '', turnIndex: 0 }
      return { type: 'events.dropped', agentId, path, seq, time, ...at, count }
    }
    this.#shift()
    return event
  }

  #shift(): void {
    this.#events[this.#first] = undefined
    this.#first += 1
    if (this.#first > 1_024 || this.#first === this.#events.length) {
      this.#events = this.#events.slice(this.#first)
      this.#first = 0
    }
  }

  #wakeAll(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  #join(event: AgentEvent): boolean {
    if (event.type !== 'reply.delta' && event.type !== 'thinking.delta') return false
    const last = this.#events.at(-1)
    if (last?.type !== event.type || last.turnIndex !== event.turnIndex) return false
    // A new attempt starts again at offset 0 and must not be glued to the one before.
    if (event.offset !== last.offset + last.text.length) return false
    // Others hold the event that came; the first joined one is a copy.
    if (this.#joined === undefined) this.#events[this.#events.length - 1] = this.#joined = { ...last }
    this.#joined.text += event.text
    return true
  }
}
