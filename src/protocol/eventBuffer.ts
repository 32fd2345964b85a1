import type { AgentEvent } from './events.ts'

/** Events a listener may lag behind before text deltas are joined, and before the oldest are dropped. */
const joinAbove = 256
const dropAbove = 4_096

/**
 * Events on their way to one `for await`. Never more than `dropAbove`: a slow reader first gets neighbouring deltas joined,
 * then an `events.dropped` in place of the oldest.
 */
export class EventBuffer implements AsyncIterableIterator<AgentEvent> {
  #events: (AgentEvent | undefined)[] = []
  #first = 0
  #dropped = 0
  #isClosed = false
  #waiting: (() => void)[] = []
  readonly #onReturn: () => void

  constructor(onReturn: () => void = () => {}) {
    this.#onReturn = onReturn
  }

  push(event: AgentEvent): void {
    if (this.#isClosed) return
    const waiting = this.#events.length - this.#first
    if (waiting >= joinAbove && this.#join(event)) return
    if (waiting >= dropAbove) {
      this.#shift()
      this.#dropped += 1
    }
    this.#events.push(event)
    this.#waiting.shift()?.()
  }

  /** No more events come; what is buffered is still read. */
  close(): void {
    this.#isClosed = true
    this.#wakeAll()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<AgentEvent, undefined>> {
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
      const at = 'loopId' in event ? { loopId: event.loopId, turnIndex: event.turnIndex } : { loopId: '', turnIndex: 0 }
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
    const last = this.#events.at(-1)
    if (last === undefined || last.type !== event.type || !('loopId' in event)) return false
    if (event.type !== 'reply.delta' && event.type !== 'thinking.delta') return false
    if (last.type !== event.type || last.turnIndex !== event.turnIndex) return false
    // A new attempt starts again at offset 0 and must not be glued to the one before.
    if (event.offset !== last.offset + last.text.length) return false
    this.#events[this.#events.length - 1] = { ...last, text: last.text + event.text }
    return true
  }
}
