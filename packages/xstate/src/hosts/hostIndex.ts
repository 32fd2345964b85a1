import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import type { TimerIndex } from '../../../../src/protocol/ports/timers.ts'
import type { Journal } from './journal.ts'

/** Writes the time at which a machine is to be woken into the store's index, after the log is written. */
export class HostIndex {
  readonly #hostId: string
  readonly #journal: Journal
  readonly #timers: TimerIndex | undefined
  readonly #logger: Logger | undefined
  #wanted: number | null = null
  /** Time that the index has; `undefined` while unknown. */
  #written: number | null | undefined
  #writing: Promise<void> | undefined

  /** `isNew`: the index has no entry for the machine. */
  constructor(
    hostId: string,
    journal: Journal,
    { timers, logger, isNew }: { timers: TimerIndex | undefined; logger: Logger | undefined; isNew: boolean },
  ) {
    if (isNew) this.#written = null
    this.#hostId = hostId
    this.#journal = journal
    this.#timers = timers
    this.#logger = logger
  }

  set(at: number | null): void {
    this.#wanted = at
    if (this.#timers !== undefined && this.#wanted !== this.#written) this.#writing ??= this.#write(this.#timers)
  }

  /** Resolves once the index holds the last time that was passed. Never rejects. */
  async settled(): Promise<void> {
    await this.#writing
  }

  async #write(timers: TimerIndex): Promise<void> {
    try {
      while (this.#written !== this.#wanted) {
        const at: number | null = this.#wanted
        await this.#journal.durable()
        await timers.set(this.#hostId, at, this.#journal.epoch)
        this.#written = at
      }
    } catch (thrown) {
      // The log has it: whoever opens the machine next writes it.
      this.#logger?.warn({ agentId: this.#hostId }, `the index of times was not written: ${messageOf(thrown)}`)
      this.#written = this.#wanted
    } finally {
      this.#writing = undefined
    }
  }
}
