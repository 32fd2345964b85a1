import type { LogRecord } from '../../../src/protocol/records.ts'
import { TableLease, type LeaseRow } from '../../stores/src/tableLease.ts'

/** One call of `append`. */
export interface Append {
  readonly records: readonly LogRecord[]
  /** The records as JSON. */
  readonly bodies: readonly string[]
  resolve(): void
  reject(error: unknown): void
}

/** Returns the current lease. @throws RuntimeError `STORE_CLOSED`, `STORE_NOT_OPEN`, `STORE_LEASE_LOST` */
export type LeaseOf = (agentId: string, epoch: number | undefined) => Promise<PostgresLease>

/** The right to append to one log, with the appends that wait. */
export class PostgresLease extends TableLease {
  /** Waiting appends, in order. */
  readonly waiting: Append[] = []
  /** True while the lease is in the queue or being written. */
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

  /** Resolves once no append waits. */
  async written(): Promise<void> {
    if (this.isQueued) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Notes that no append waits any more. */
  rest(): void {
    this.isQueued = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
