import type { HostTimer } from '../../../../src/protocol/parts/hosts/hostRecords.ts'
import type { Journal } from './journal.ts'

/** The step that is being taken. */
export interface Taking {
  /** `seq` and time of the record that it follows from. */
  readonly seq: number
  readonly time: number
  readonly set: HostTimer[]
  readonly cleared: string[]
  /** Commands that agents have yet to take; `false`: one was not taken. */
  readonly owes: Promise<boolean>[]
}

/** A step whose actions may still be on their way. */
interface OwedStep extends Taking {
  readonly print: string
  isReady: boolean
}

/** Steps that were taken, until the log says so. They are recorded in order, each once its actions were carried out. */
export class Steps {
  readonly #journal: Journal
  readonly #owed: OwedStep[] = []
  /** Called once steps were recorded that had to wait. */
  readonly #recorded: () => void
  #isClosed = false

  constructor(journal: Journal, recorded: () => void) {
    this.#journal = journal
    this.#recorded = recorded
  }

  /** True if the log has all of them. */
  get isEmpty(): boolean {
    return this.#owed.length === 0
  }

  /** Takes a step, with the fingerprint of the state after it. */
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

  /** Records no more of them: those that are left are taken again by whoever opens the machine next. */
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
