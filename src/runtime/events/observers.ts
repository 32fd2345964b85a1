import { RuntimeError } from '../../protocol/errors.ts'
import type { AgentEvent } from '../../protocol/events.ts'

export type AgentListener = (event: AgentEvent) => unknown

/** @throws RuntimeError `INVALID_OPTION` if the listener is no function */
export function checkListener(method: string, listener: unknown): void {
  if (typeof listener === 'function') return
  throw new RuntimeError('INVALID_OPTION', `${method} takes a function, not ${typeof listener}.`)
}

/** An additional receiver of an event, decided when it happens. */
interface Sink {
  push(event: AgentEvent): void
}

const none: readonly never[] = Object.freeze([])

/**
 * Passes events on to listeners in the order they happened: an event caused by a listener is delivered once everyone has received
 * its cause. A listener that throws or rejects is reported once and affects nothing else.
 */
export class Observers {
  readonly #owner: { listenerFailed(thrown: unknown, event: AgentEvent): void }
  #listeners: readonly AgentListener[] = none
  #outbox: { event: AgentEvent; sink: Sink | undefined }[] | undefined
  #isFlushing = false
  #failed: WeakSet<AgentListener> | undefined

  constructor(owner: { listenerFailed(thrown: unknown, event: AgentEvent): void }) {
    this.#owner = owner
  }

  get isEmpty(): boolean {
    return this.#listeners.length === 0
  }

  add(listener: AgentListener): () => void {
    const entry: AgentListener = (event) => listener(event)
    this.#listeners = [...this.#listeners, entry]
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== entry)
    }
  }

  /** Holds an event until `flush`, because the machine is in the middle of a step and its state is not updated yet. */
  hold(event: AgentEvent, sink: Sink | undefined): void {
    this.#outbox ??= []
    this.#outbox.push({ event, sink })
  }

  /** Delivers an event now, unless others are waiting before it. */
  tell(event: AgentEvent, sink: Sink | undefined): void {
    if (this.#outbox !== undefined || this.#isFlushing) return this.hold(event, sink)
    sink?.push(event)
    if (this.#listeners.length === 0) return
    this.#isFlushing = true
    this.#tellAll(event)
    this.#isFlushing = false
    this.flush()
  }

  flush(): void {
    if (this.#isFlushing || this.#outbox === undefined) return
    this.#isFlushing = true
    for (let i = 0; i < this.#outbox.length; i++) {
      const { event, sink } = this.#outbox[i]!
      sink?.push(event)
      if (this.#listeners.length > 0) this.#tellAll(event)
    }
    this.#outbox = undefined
    this.#isFlushing = false
  }

  #tellAll(event: AgentEvent): void {
    const listeners = this.#listeners
    for (const listener of listeners) {
      if (this.#listeners === listeners || this.#listeners.includes(listener)) this.#tellOne(listener, event)
    }
  }

  #tellOne(listener: AgentListener, event: AgentEvent): void {
    try {
      const returned = listener(event)
      if (returned instanceof Promise) returned.catch((thrown: unknown) => this.#report(listener, thrown, event))
    } catch (thrown) {
      this.#report(listener, thrown, event)
    }
  }

  #report(listener: AgentListener, thrown: unknown, event: AgentEvent): void {
    this.#failed ??= new WeakSet()
    if (this.#failed.has(listener)) return
    this.#failed.add(listener)
    this.#owner.listenerFailed(thrown, event)
  }
}
