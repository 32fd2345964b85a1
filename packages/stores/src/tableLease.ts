import type { StoreLease } from '../../../src/protocol/ports/store.ts'

/** Row that `open` found in a database. */
export interface LeaseRow {
  readonly agentId: string
  /** Number of the agent in the tables. */
  readonly number: number
  readonly epoch: number
  readonly lastSeq: number
}

/** Right to append to one log in a database. */
export abstract class TableLease implements StoreLease {
  readonly agentId: string
  readonly number: number
  readonly epoch: number
  readonly repairedBytes = 0
  lastSeq: number
  #isLost = false
  readonly #lost = Promise.withResolvers<void>()
  #released: Promise<void> | undefined

  constructor({ agentId, number, epoch, lastSeq }: LeaseRow) {
    this.agentId = agentId
    this.number = number
    this.epoch = epoch
    this.lastSeq = lastSeq
  }

  get lost(): Promise<void> {
    return this.#lost.promise
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Notes that another writer has the log. */
  lose(): void {
    this.#isLost = true
    this.#lost.resolve()
  }

  get isReleased(): boolean {
    return this.#released !== undefined
  }

  release(): Promise<void> {
    this.#released ??= this.free()
    return this.#released
  }

  /** Releases the log for another writer. Called once. */
  protected abstract free(): Promise<void>
}
