import type { Clock } from '../../protocol/clock.ts'
import type { LoadedAgent } from './agentBody.ts'

/**
 * Lets go of root agents that have been idle for so long, by one timer for all of them. What keeps an agent loaded (a listener,
 * a child) is looked at only when its time is over; when that ends, `look` begins its time anew.
 */
export class Unloading {
  readonly #idleMs: number
  readonly #clock: Clock
  readonly #unload: (host: LoadedAgent) => void
  /** When the time of each is over, soonest first: all wait equally long. */
  readonly #due = new Map<LoadedAgent, number>()
  #cancelTimer: (() => void) | undefined

  constructor(idleMs: number, { clock, unload }: { clock: Clock; unload: (host: LoadedAgent) => void }) {
    this.#idleMs = idleMs
    this.#clock = clock
    this.#unload = unload
  }

  /** Something happened to the agent: at rest, its time begins anew. */
  look(host: LoadedAgent): void {
    if (host.parent !== undefined) return
    this.#due.delete(host)
    if (host.state === 'idle' && !host.isStopped) this.#due.set(host, this.#clock.now() + this.#idleMs)
    this.#keepTime()
  }

  /** The agent is no more. */
  forget(host: LoadedAgent): void {
    this.#due.delete(host)
    this.#keepTime()
  }

  /** The timer runs while somebody waits; it may fire too early, for one that is not idle any more. */
  #keepTime(): void {
    if (this.#due.size === 0) {
      this.#cancelTimer?.()
      this.#cancelTimer = undefined
      return
    }
    if (this.#cancelTimer !== undefined) return
    for (const due of this.#due.values()) {
      this.#cancelTimer = this.#clock.after(Math.max(0, due - this.#clock.now()), () => this.#sweep())
      return
    }
  }

  #sweep(): void {
    this.#cancelTimer = undefined
    const now = this.#clock.now()
    for (const [host, due] of this.#due) {
      if (due > now) break
      this.#due.delete(host)
      // A store that fails pauses the agent; it comes back here when it goes on.
      const pending = host.durable()
      if (pending !== undefined)
        pending.then(
          () => this.look(host),
          () => {},
        )
      else if (isQuiet(host)) this.#unload(host)
    }
    this.#keepTime()
  }
}

/** Whether nothing would be missed of an agent if it were let go now: it rests, and nobody and nothing is bound to it. */
function isQuiet(host: LoadedAgent): boolean {
  const { prompts, steering, followUps, reverts, prunes, attached, calls } = host.context
  const waiting = [prompts, steering, followUps, reverts ?? [], prunes ?? [], attached, calls, host.liveChildren]
  return (
    host.state === 'idle' &&
    !host.isStopped &&
    host.unseen === 0 &&
    waiting.every(({ length }) => length === 0) &&
    !host.isAttended
  )
}
