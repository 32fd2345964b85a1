import type { LogRecord } from '../../protocol/records.ts'
import type { StoreLease } from '../../protocol/store.ts'

/** What `open` found in the tables. */
export interface LeaseRow {
  readonly agentId: string
  /** Of the agent in the tables. */
  readonly number: number
  readonly epoch: number
  readonly lastSeq: number
}

/** One call of `append`. */
export interface Append {
  readonly records: readonly LogRecord[]
  /** The same as JSON. */
  readonly bodies: readonly string[]
  resolve(): void
  reject(error: unknown): void
}

/** The right to append to one log, and what waits to be appended. */
export class PostgresLease implements StoreLease {
  readonly agentId: string
  readonly number: number
  readonly epoch: number
  readonly repairedBytes = 0
  lastSeq: number
  /** In order. */
  readonly waiting: Append[] = []
  /** Whether it stands in the queue, or is being written. */
  isQueued = false
  #isLost = false
  readonly #lost = Promise.withResolvers<void>()
  readonly #free: (lease: PostgresLease) => Promise<void>
  #released: Promise<void> | undefined
  #idle: (() => void) | undefined

  constructor({ agentId, number, epoch, lastSeq }: LeaseRow, free: (lease: PostgresLease) => Promise<void>) {
    this.agentId = agentId
    this.number = number
    this.epoch = epoch
    this.lastSeq = lastSeq
    this.#free = free
  }

  get lost(): Promise<void> {
    return this.#lost.promise
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Another writer has the log. */
  lose(): void {
    this.#isLost = true
    this.#lost.resolve()
  }

  get isReleased(): boolean {
    return this.#released !== undefined
  }

  release(): Promise<void> {
    this.#released ??= this.#free(this)
    return this.#released
  }

  /** Resolves once nothing waits to be written. */
  async written(): Promise<void> {
    if (this.isQueued) await new Promise<void>((resolve) => (this.#idle = resolve))
  }

  /** Nothing waits any more. */
  rest(): void {
    this.isQueued = false
    this.#idle?.()
  }
}
