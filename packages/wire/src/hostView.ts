/** A delayed event that is still pending. */
export interface PendingTimer {
  readonly id: string
  /** Type of the event. */
  readonly type: string
  /** Time at which the event is due, in epoch milliseconds. */
  readonly due: number
}

/** A record of a machine's log in words. */
export interface HostLine {
  readonly seq: number
  /** Time of the record, in epoch milliseconds. */
  readonly time: number
  /** Type of the record, such as `host.event`. */
  readonly type: string
  readonly line: string
}

/** State of a durable machine, for lists. */
export interface HostView {
  readonly id: string
  /** Name of the machine. */
  readonly machine: string
  readonly version?: string
  /** Status of the machine. `closed`: it is no longer open in this process. */
  readonly status: 'active' | 'done' | 'error' | 'closed'
  /** Current states of the machine, as XState writes them. */
  readonly value: unknown
  /** `seq` of the machine's last record. */
  readonly seq: number
  readonly timers: readonly PendingTimer[]
  /** The machine's children by id, with the agent id of children that are agents. */
  readonly children: readonly { readonly id: string; readonly agentId?: string; readonly status: string }[]
}
