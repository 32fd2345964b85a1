/** An agent with the earliest time at which it wants to be woken, in epoch milliseconds. */
export interface DueAgent {
  readonly agentId: string
  readonly due: number
}

/**
 * An index of the earliest time of each agent, beside the logs. It is a hint, derived from the log and written after it. Due times are
 * read from the log, so a late entry wakes an agent late, and a wrong one does no harm. Contract: `set` replaces the entry of the
 * agent, and `null` removes it. It rejects with `STORE_NOT_OPEN` without a lease, and with `STORE_LEASE_LOST` under an epoch that is
 * not the newest. `due` resolves to at most `limit` agents whose time is not after `now`, the earliest first, and by id at the same
 * time. It needs no lease. An agent's entry is deleted with its log.
 */
export interface TimerIndex {
  set(agentId: string, due: number | null, epoch?: number): Promise<void>
  due(now: number, limit?: number): Promise<readonly DueAgent[]>
}
