/** A case that was run. */
export interface EndedCase {
  readonly suite: string
  readonly title: string
  readonly hasPassed: boolean
  readonly ms: number
}

/** What the door knows of a file's cases; the runner compares it with what uvu says. */
export class CaseBook {
  registered = 0
  hasBegun = false
  readonly ended: EndedCase[] = []
  readonly skipped: { readonly suite: string; readonly title: string }[] = []
  readonly #stopsAtFailure: boolean

  constructor({ stopsAtFailure = false }: { readonly stopsAtFailure?: boolean } = {}) {
    this.#stopsAtFailure = stopsAtFailure
  }

  /** One has failed, and the others are not to run. */
  get isStopped(): boolean {
    return this.#stopsAtFailure && this.ended.some(({ hasPassed }) => !hasPassed)
  }

  /** Whether the next case is to run. */
  begin(): boolean {
    this.hasBegun = true
    return !this.isStopped
  }
}

let current = new CaseBook()

/** The book that cases are entered in now. */
export const caseBook = (): CaseBook => current

/** Begins a file: its cases are entered in a book of their own. */
export const openCaseBook = (options: { readonly stopsAtFailure: boolean }): CaseBook =>
  (current = new CaseBook(options))
