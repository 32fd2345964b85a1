import type { DrivenBelow } from '../bridge/drivenAgent.ts'

/** Where events of one run go: a response, or a socket. */
export interface Sink<Event> {
  /** No more should be written for now; what is written anyway waits in memory. */
  readonly isFull: boolean
  write(event: Event): void
  /** Calls once what is waiting has been sent; only while it is full. */
  onDrain(call: () => void): void
  /** There are no more events. */
  end(): void
}

/** Events that may wait for the store before it counts as full. */
const maxHeld = 1_024

/** Resolves once the store has all records of an agent and its sub-agents; `undefined`: it has them. */
function unwritten(agent: DrivenBelow): Promise<unknown> | undefined {
  const own = agent.durable()
  const below = agent.children().flatMap((child) => unwritten(child) ?? [])
  if (below.length === 0) return own
  return Promise.all(own === undefined ? below : [own, ...below])
}

/**
 * Passes events on, in order, once the store has the records behind them, so a client never knows more than the log of a killed
 * server. While the store fails, events are passed on as they come.
 */
export class DurableSink<Event> implements Sink<Event> {
  readonly #sink: Sink<Event>
  readonly #agent: DrivenBelow
  #held: Event[] = []
  #isEnded = false
  #onDrain: (() => void) | undefined

  constructor(sink: Sink<Event>, agent: DrivenBelow) {
    this.#sink = sink
    this.#agent = agent
  }

  get isFull(): boolean {
    return this.#held.length >= maxHeld || this.#sink.isFull
  }

  write(event: Event): void {
    if (this.#held.length > 0) return void this.#held.push(event)
    const pending = unwritten(this.#agent)
    if (pending === undefined) return this.#sink.write(event)
    this.#held.push(event)
    void this.#release(pending)
  }

  onDrain(call: () => void): void {
    if (this.#held.length > 0) this.#onDrain = call
    else this.#sink.onDrain(call)
  }

  end(): void {
    this.#isEnded = true
    if (this.#held.length === 0) this.#sink.end()
  }

  /** The client has left: drops what is waiting. */
  drop(): void {
    this.#held = []
    this.#onDrain = undefined
  }

  async #release(first: Promise<unknown>): Promise<void> {
    let pending: Promise<unknown> | undefined = first
    while (this.#held.length > 0) {
      const count = this.#held.length
      // The records stay in memory until the store works again.
      await pending?.catch(() => {})
      for (const event of this.#held.splice(0, count)) this.#sink.write(event)
      pending = this.#held.length > 0 ? unwritten(this.#agent) : undefined
    }
    if (this.#isEnded) return this.#sink.end()
    const drained = this.#onDrain
    this.#onDrain = undefined
    if (drained === undefined) return
    if (this.#sink.isFull) this.#sink.onDrain(drained)
    else drained()
  }
}
