import { brakeQueues } from '../../protocol/brakes/brakeTable.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import type { LoadedAgent } from './agentBody.ts'

/**
 * Unloads root agents that have been idle long enough, with one timer for all of them. Reasons to keep an agent loaded (a listener, a child)
 * are checked only when its time is up; when such a reason goes away, `look` restarts its time.
 */
export class IdleUnloader {
  readonly #idleMs: number
  readonly #clock: Clock
  readonly #unload: (host: LoadedAgent) => void
  /** Time at which each agent is due, soonest first, because all wait equally long. */
  readonly #due = new Map<LoadedAgent, number>()
  #cancelTimer: (() => void) | undefined

  constructor(idleMs: number, { clock, unload }: { clock: Clock; unload: (host: LoadedAgent) => void }) {
    this.#idleMs = idleMs
    this.#clock = clock
    this.#unload = unload
  }

  /** Something happened to the agent: if it is idle, its time restarts. */
  look(host: LoadedAgent): void {
    // An incognito agent could not be loaded again.
    if (host.parent !== undefined || host.incognito) return
    this.#due.delete(host)
    if (host.state === 'idle' && !host.isStopped) this.#due.set(host, this.#clock.now() + this.#idleMs)
    this.#keepTime()
  }

  /** The agent has ended. */
  forget(host: LoadedAgent): void {
    this.#due.delete(host)
    this.#keepTime()
  }

  /** Keeps the timer running while any agent waits; it may fire early, for an agent that is no longer idle. */
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
      // A store failure pauses the agent; it returns here when it continues.
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

/** Returns true if the agent can be unloaded: it is idle, and nothing is bound to it. */
function isQuiet(host: LoadedAgent): boolean {
  const { prompts, steering, followUps, compactRequests, policyRequests, attached, calls } = host.context
  const waiting = [
    prompts,
    steering,
    followUps,
    ...brakeQueues.map((queue) => host.context[queue]),
    compactRequests,
    policyRequests ?? [],
    attached,
    calls,
    host.liveChildren,
  ]
  return (
    host.state === 'idle' &&
    !host.isStopped &&
    host.unseen === 0 &&
    host.context.undoing === null &&
    waiting.every(({ length }) => length === 0) &&
    !host.isAttended
  )
}
