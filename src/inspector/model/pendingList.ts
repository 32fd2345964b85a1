import type { RemoteSnapshot } from '../../client.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import { pendingIn, type Pending } from '../../protocol/pending.ts'

/** What waits for people, as the server says; one of an older version knows only approvals. */
export const pendingOf = ({ asked, approvals }: RemoteSnapshot): readonly Pending[] =>
  asked ?? approvals.map((call) => ({ kind: 'approval', ...call }))

const settles: ReadonlySet<AgentEvent['type']> = new Set(['approval.decided', 'question.answered', 'tool.end'])

/** What waits for a person, of an agent and of those below it. */
export class PendingList {
  #all: readonly Pending[] = []

  /** Oldest first; the same array while nothing changes. */
  get all(): readonly Pending[] {
    return this.#all
  }

  /** What the server says is the truth. */
  replace(all: readonly Pending[]): void {
    this.#all = all
  }

  /** Takes in what an event says of it; `false` if that is nothing. */
  take(event: AgentEvent): boolean {
    const pending = pendingIn(event.agentId, event)
    if (pending === undefined && !settles.has(event.type)) return false
    const { agentId, callId } = event as AgentEvent & { readonly callId: string }
    const others = this.#all.filter((one) => one.agentId !== agentId || one.callId !== callId)
    if (pending !== undefined) this.#all = [...others, pending]
    else if (others.length < this.#all.length) this.#all = others
    return true
  }

  /** Whether these are the keys of what waits. */
  isSame(keys: readonly string[]): boolean {
    const own = new Set(this.#all.map(({ key }) => key))
    return own.size === keys.length && keys.every((key) => own.has(key))
  }
}
