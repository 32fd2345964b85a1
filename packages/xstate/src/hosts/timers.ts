import type { HostTimer } from '../../../../src/protocol/parts/hosts/hostRecords.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'

/** Maximum time of a single wait, in milliseconds, because the clock may be changed. */
const longestWaitMs = 86_400_000

/** Returns the delayed events, the earliest first. */
export const byDue = (timers: Iterable<HostTimer>): readonly HostTimer[] =>
  [...timers].toSorted((a, b) => a.due - b.due)

/** Delayed events of one machine, in the order in which they are due. Events due at the same time keep the order in which they were set. */
export class HostTimers {
  readonly #clock: Clock
  readonly #ring: (timer: HostTimer) => void
  readonly #timers: Map<string, HostTimer>
  #cancel: (() => void) | undefined
  #isOpen = false

  /** `ring`: called with each delayed event when it is due, after the event is removed. */
  constructor(clock: Clock, timers: Map<string, HostTimer>, ring: (timer: HostTimer) => void) {
    this.#clock = clock
    this.#timers = timers
    this.#ring = ring
  }

  get list(): readonly HostTimer[] {
    return byDue(this.#timers.values())
  }

  /** Time at which the earliest event is due, in epoch milliseconds. */
  get due(): number | null {
    return this.list[0]?.due ?? null
  }

  set(timer: HostTimer): void {
    // One that is set again goes to the end, as in XState.
    this.#timers.delete(timer.id)
    this.#timers.set(timer.id, timer)
    this.#look()
  }

  /** Removes a delayed event; returns `false` if none has this id. */
  clear(id: string): boolean {
    return this.#timers.delete(id)
  }

  /** Starts ringing. */
  open(): void {
    this.#isOpen = true
    this.#look()
  }

  /** Stops ringing; the delayed events stay. */
  close(): void {
    this.#isOpen = false
    this.#cancel?.()
    this.#cancel = undefined
  }

  #look(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const { due } = this
    if (!this.#isOpen || due === null) return
    const wait = Math.max(0, Math.min(due - this.#clock.now(), longestWaitMs))
    this.#cancel = this.#clock.after(wait, () => this.#fire())
  }

  #fire(): void {
    this.#cancel = undefined
    const now = this.#clock.now()
    for (const timer of this.list) if (timer.due <= now && this.#timers.delete(timer.id)) this.#ring(timer)
    this.#look()
  }
}
