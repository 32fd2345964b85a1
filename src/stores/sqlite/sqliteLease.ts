import type { StoreLease } from '../../protocol/store.ts'

/** What `open` found in the tables. */
export interface LeaseRow {
  readonly agentId: string
  /** Of the agent in the tables. */
  readonly number: number
  readonly epoch: number
  readonly lastSeq: number
}

/** The right to append to one log. */
export class SqliteLease implements StoreLease {
  readonly agentId: string
  readonly number: number
  readonly epoch: number
  readonly repairedBytes = 0
  lastSeq: number
  /** Appends that wait to be written. */
  waiting = 0
  readonly #lost = Promise.withResolvers<void>()
  readonly #free: (lease: SqliteLease) => Promise<void>
  #released: Promise<void> | undefined

  constructor({ agentId, number, epoch, lastSeq }: LeaseRow, free: (lease: SqliteLease) => Promise<void>) {
    this.agentId = agentId
    this.number = number
    this.epoch = epoch
    this.lastSeq = lastSeq
    this.#free = free
  }

  get lost(): Promise<void> {
    return this.#lost.promise
  }

  /** Another writer has the log. */
  lose(): void {
    this.#lost.resolve()
  }

  get isReleased(): boolean {
    return this.#released !== undefined
  }

  release(): Promise<void> {
    this.#released ??= this.#free(this)
    return this.#released
  }
}
