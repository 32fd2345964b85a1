import type { EventOf } from '../../protocol/events.ts'
import type { PendingApproval } from './agentView.ts'

/** Calls that wait for a person, of an agent and of those below it. */
export class ApprovalList {
  #all: readonly PendingApproval[] = []

  /** Oldest first; the same array while nothing changes. */
  get all(): readonly PendingApproval[] {
    return this.#all
  }

  /** What the server says is the truth. */
  replace(approvals: readonly PendingApproval[]): void {
    this.#all = approvals
  }

  ask({ agentId, callId, key, name, input }: EventOf<'approval.requested'>): void {
    this.settle(agentId, callId)
    this.#all = [...this.#all, { agentId, callId, key, name, input }]
  }

  /** It waits no more: it was decided, or it has a result. */
  settle(agentId: string, callId: string): void {
    if (this.#all.some((one) => one.agentId === agentId && one.callId === callId))
      this.#all = this.#all.filter((one) => one.agentId !== agentId || one.callId !== callId)
  }

  /** Whether these are the keys of what waits. */
  isSame(keys: readonly string[]): boolean {
    const own = new Set(this.#all.map(({ key }) => key))
    return own.size === keys.length && keys.every((key) => own.has(key))
  }
}
