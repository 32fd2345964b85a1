import { brakeQueues } from '../../protocol/brakes/brakeTable.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import type { AgentContext } from '../../machines/agentTypes.ts'
import type { TreeAgent } from '../children/treeAgent.ts'

/** A root agent that may be idle, or asleep. */
type Idle = TreeAgent & {
  readonly isLoaded: boolean
  readonly machine: { readonly isAttended: boolean; readonly isAsleep: boolean }
}

/**
 * Unloads root agents that have been idle, or asleep, long enough, with one timer for all of them. Reasons to keep an agent
 * loaded (a listener, a child) are checked only when its time is up. When such a reason goes away, `look` restarts its time.
 */
export class IdleUnloader {
  readonly #idleMs: number
  readonly #clock: Clock
  readonly #unload: (host: Idle) => void
  /** Time at which each agent is due, soonest first, because all wait equally long. */
  readonly #due = new Map<Idle, number>()
  #cancelTimer: (() => void) | undefined

  constructor(idleMs: number, { clock, unload }: { clock: Clock; unload: (host: Idle) => void }) {
    this.#idleMs = idleMs
    this.#clock = clock
    this.#unload = unload
  }

  /** Restarts the agent's time if it is idle. Called whenever something happened to the agent. */
  look(host: Idle): void {
    // An incognito agent could not be loaded again.
    if (host.parent !== undefined || host.incognito || !host.isLoaded) return
    this.#due.delete(host)
    if (isAtRest(host)) this.#due.set(host, this.#clock.now() + this.#idleMs)
    this.#keepTime()
  }

  /** Forgets an agent that has ended. */
  forget(host: Idle): void {
    this.#due.delete(host)
    this.#keepTime()
  }

  /** Keeps the timer running while any agent waits. The timer may fire early, for an agent that is no longer idle. */
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
      const pending = host.log.durable()
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

/** Lists in an agent's context that are empty while it is at rest and nothing waits. */
const waiting = [
  'prompts',
  'steering',
  'followUps',
  ...brakeQueues,
  'compactRequests',
  'policyRequests',
  'attached',
] as const satisfies readonly (keyof AgentContext)[]

/** Returns true if nothing happens in the agent before a message comes or a time has come. */
const isAtRest = ({ machine }: Idle): boolean => (machine.state === 'idle' || machine.isAsleep) && !machine.isStopped

/** Returns true if the agent can be unloaded: it is at rest, and nothing is bound to it. */
function isQuiet(host: Idle): boolean {
  const { machine, family, announcer } = host
  const { context } = machine
  return (
    isAtRest(host) &&
    machine.unseen === 0 &&
    context.undoing === null &&
    context.background.length === 0 &&
    waiting.every((list) => !context[list]?.length) &&
    context.calls.every(({ status }) => status === 'settled' || status === 'sleeping') &&
    family.live.length === 0 &&
    !machine.isAttended &&
    !announcer.isAttended
  )
}
