/** An agent with the earliest time at which it wants to be woken, in epoch milliseconds. */
export interface DueAgent {
  readonly agentId: string
  readonly due: number
}

/**
 * An index of the earliest time of each agent, beside the logs. It is a hint that is derived from the log and written after it: what is due is read
 * from the log, so that an entry that is late wakes an agent late, and one that is wrong does no harm. Contract: `set` replaces the entry of the
 * agent, `null` removes it; it rejects with `STORE_NOT_OPEN` without a lease, and with `STORE_LEASE_LOST` under an epoch that is not the newest.
 * `due` resolves to the agents whose time is not after `now`, the earliest first and those of one time by id, `limit` of them at most. It needs no
 * lease. The entry of an agent is deleted with its log.
 */
export interface TimerIndex {
  set(agentId: string, due: number | null, epoch?: number): Promise<void>
  due(now: number, limit?: number): Promise<readonly DueAgent[]>
}
