/** A delayed event that has yet to come. */
export interface PendingTimer {
  readonly id: string
  /** Type of the event. */
  readonly type: string
  /** When it comes, in epoch milliseconds. */
  readonly due: number
}

/** A record of a machine's log in words. */
export interface HostLine {
  readonly seq: number
  /** Epoch milliseconds. */
  readonly time: number
  /** Type of the record, such as `host.event`. */
  readonly type: string
  readonly line: string
}

/** State of a machine that is kept, for lists. */
export interface HostView {
  readonly id: string
  /** Name of the machine. */
  readonly machine: string
  readonly version?: string
  /** `closed`: it is not in this process any more. */
  readonly status: 'active' | 'done' | 'error' | 'closed'
  /** The states it is in, as XState writes them. */
  readonly value: unknown
  /** `seq` of its last record. */
  readonly seq: number
  readonly timers: readonly PendingTimer[]
  /** Its children by id, with the ids of agents among them. */
  readonly children: readonly { readonly id: string; readonly agentId?: string; readonly status: string }[]
}
