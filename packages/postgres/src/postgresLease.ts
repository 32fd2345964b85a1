import type { LogRecord } from '../../../src/protocol/records.ts'
import { TableLease, type LeaseRow } from '../../stores/src/tableLease.ts'

/** One call of `append`. */
export interface Append {
  readonly records: readonly LogRecord[]
  /** The same as JSON. */
  readonly bodies: readonly string[]
  resolve(): void
  reject(error: unknown): void
}

/** Returns the lease that is out. @throws RuntimeError `STORE_CLOSED`, `STORE_NOT_OPEN`, `STORE_LEASE_LOST` */
export type LeaseOf = (agentId: string, epoch: number | undefined) => Promise<PostgresLease>

/** The right to append to one log, and what waits to be appended. */
export class PostgresLease extends TableLease {
  /** In order. */
  readonly waiting: Append[] = []
  /** True while it stands in the queue or is being written. */
  isQueued = false
  readonly #free: (lease: PostgresLease) => Promise<void>
  readonly #idle: (() => void)[] = []

  constructor(row: LeaseRow, free: (lease: PostgresLease) => Promise<void>) {
    super(row)
    this.#free = free
  }

  protected override free(): Promise<void> {
    return this.#free(this)
  }

  /** Resolves once nothing waits to be written. */
  async written(): Promise<void> {
    if (this.isQueued) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Notes that nothing waits any more. */
  rest(): void {
    this.isQueued = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
