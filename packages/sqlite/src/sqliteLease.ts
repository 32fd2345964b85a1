import { TableLease, type LeaseRow } from '../../stores/src/tableLease.ts'

/** The right to append to one log, with the number of waiting appends. */
export class SqliteLease extends TableLease {
  /** Number of appends that wait to be written. */
  waiting = 0
  readonly #free: (lease: SqliteLease) => Promise<void>

  constructor(row: LeaseRow, free: (lease: SqliteLease) => Promise<void>) {
    super(row)
    this.#free = free
  }

  protected override free(): Promise<void> {
    return this.#free(this)
  }
}
