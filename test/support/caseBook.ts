/** A case that was run. */
export interface EndedCase {
  readonly suite: string
  readonly title: string
  readonly hasPassed: boolean
  readonly ms: number
}

/** A case that failed, and passed when it was tried again. */
export interface RetriedCase {
  readonly title: string
  /** Lines of its first failure. */
  readonly lines: readonly string[]
}

interface BookOptions {
  /** The file the cases are of, from the root and with `/`. */
  readonly file: string
  readonly stopsAtFailure: boolean
}

/** Counts of a file's cases as `suite.ts` sees them; the runner compares them with the counts of uvu. */
export class CaseBook {
  /** `undefined`: a file that runs alone, without the runner. */
  readonly file: string | undefined
  registered = 0
  hasBegun = false
  readonly ended: EndedCase[] = []
  readonly flaky: RetriedCase[] = []
  readonly skipped: { readonly suite: string; readonly title: string }[] = []
  readonly #stopsAtFailure: boolean

  constructor({ file, stopsAtFailure = false }: Partial<BookOptions> = {}) {
    this.file = file
    this.#stopsAtFailure = stopsAtFailure
  }

  /** True once a case has failed and the others must not run. */
  get isStopped(): boolean {
    return this.#stopsAtFailure && this.ended.some(({ hasPassed }) => !hasPassed)
  }

  /** Begins the next case; returns true if it has to run. */
  begin(): boolean {
    this.hasBegun = true
    return !this.isStopped
  }
}

let current = new CaseBook()

/** The book that cases are entered in now. */
export const caseBook = (): CaseBook => current

/** Begins a file: its cases are entered in a book of their own. */
export const openCaseBook = (options: BookOptions): CaseBook => (current = new CaseBook(options))
