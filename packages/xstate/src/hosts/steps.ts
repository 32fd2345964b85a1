import type { HostTimer } from '../../../../src/protocol/parts/hosts/hostRecords.ts'
import type { Journal } from './journal.ts'

/** The step being taken. */
export interface Taking {
  /** `seq` and time of the record that caused the step. */
  readonly seq: number
  readonly time: number
  readonly set: HostTimer[]
  readonly cleared: string[]
  /** Settlements of commands that agents have yet to take; `false`: a command was not taken. */
  readonly owes: Promise<boolean>[]
}

/** A step whose actions may still be pending. */
interface OwedStep extends Taking {
  readonly print: string
  isReady: boolean
}

/** Steps taken but not yet recorded. They are recorded in order, each once its actions were carried out. */
export class Steps {
  readonly #journal: Journal
  readonly #owed: OwedStep[] = []
  /** Called once steps that had to wait were recorded. */
  readonly #recorded: () => void
  #isClosed = false

  constructor(journal: Journal, recorded: () => void) {
    this.#journal = journal
    this.#recorded = recorded
  }

  /** True if all steps are in the log. */
  get isEmpty(): boolean {
    return this.#owed.length === 0
  }

  /** Adds a step, with the fingerprint of the state after it. */
  add(taking: Taking, print: string): void {
    const { owes } = taking
    const owed: OwedStep = { ...taking, print, isReady: owes.length === 0 }
    this.#owed.push(owed)
    if (owed.isReady) this.#flush()
    else
      void Promise.all(owes).then((taken) => {
        owed.isReady = taken.every(Boolean)
        this.#flush()
        this.#recorded()
      })
  }

  /** Stops recording steps. Unrecorded ones are taken again by the process that opens the machine next. */
  close(): void {
    this.#isClosed = true
  }

  #flush(): void {
    while (!this.#isClosed && this.#owed[0]?.isReady === true) {
      const { seq: upto, print, set, cleared } = this.#owed.shift()!
      this.#journal.append({
        type: 'host.step',
        upto,
        print,
        ...(set.length === 0 ? {} : { set }),
        ...(cleared.length === 0 ? {} : { cleared }),
      })
    }
  }
}
