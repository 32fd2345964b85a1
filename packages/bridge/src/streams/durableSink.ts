import type { DrivenBelow } from '../server/drivenAgent.ts'
import { writtenHere } from '../server/written.ts'

/** Destination of events of one run: a response, or a socket. */
export interface Sink<Event> {
  /** True while no more should be written; events that are written anyway wait in memory. */
  readonly isFull: boolean
  write(event: Event): void
  /** Calls `call` once the waiting events have been sent. Use it only while the sink is full. */
  onDrain(call: () => void): void
  /** Called when there are no more events. */
  end(): void
}

/** Number of events waiting for the store at which the sink counts as full. */
const maxHeld = 1_024

interface Unwritten {
  readonly own: Promise<void> | undefined
  readonly below: readonly Promise<void>[]
}

const writingBelow = (agent: DrivenBelow): Promise<void>[] =>
  agent.children().flatMap((child) => {
    const own = child.durable()
    return own === undefined ? writingBelow(child) : [own, ...writingBelow(child)]
  })

/** Returns the pending writes of an agent and its sub-agents; `undefined` if the store has all their records. */
function unwritten(agent: DrivenBelow): Unwritten | undefined {
  const own = agent.durable()
  const below = writingBelow(agent)
  return own === undefined && below.length === 0 ? undefined : { own, below }
}

/**
 * Passes events on, in order, once the store has the records behind them, so a client never knows more than the log of a killed server.
 * While the store fails, events are passed on as they come. If another process has taken over the log, waiting events are dropped, and the
 * client gets `lost` as its last message.
 */
export class DurableSink<Event> implements Sink<Event> {
  readonly #sink: Sink<Event>
  readonly #agent: DrivenBelow
  readonly #lost: readonly Event[]
  #held: Event[] = []
  #isEnded = false
  #isLost = false
  #onDrain: (() => void) | undefined

  constructor(sink: Sink<Event>, agent: DrivenBelow, lost: readonly Event[]) {
    this.#sink = sink
    this.#agent = agent
    this.#lost = lost
  }

  get isFull(): boolean {
    return this.#held.length >= maxHeld || this.#sink.isFull
  }

  write(event: Event): void {
    if (this.#isLost) return
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
    if (this.#held.length === 0 && !this.#isLost) this.#sink.end()
  }

  /** Drops the waiting events after the client has left. */
  drop(): void {
    this.#held = []
    this.#onDrain = undefined
  }

  async #release(first: Unwritten): Promise<void> {
    let pending: Unwritten | undefined = first
    while (this.#held.length > 0) {
      const count = this.#held.length
      // While the store fails, the records stay in memory until it works again.
      const [isOurs] = await Promise.all([writtenHere(pending?.own), Promise.allSettled(pending?.below ?? [])])
      if (!isOurs) return this.#lose()
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

  #lose(): void {
    const isWatched = this.#held.length > 0
    this.drop()
    this.#isLost = true
    if (!isWatched) return
    for (const event of this.#lost) this.#sink.write(event)
    this.#sink.end()
  }
}
