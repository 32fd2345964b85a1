import { join } from 'node:path'
import { errorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import { isNoPart } from '../suite/taskFiles.ts'
import { changedPaths, fingerprint } from './workspace.ts'

/** Maximum number of watched folders of trials: the newest. */
const mostWatched = 100
const mostNamed = 5

type Print = ReadonlyMap<string, string>

/**
 * Detects files that a trial has changed outside its folder, in the suite and in the folders of finished trials. All trials that ran at that time are
 * blamed, because the culprit is unknown.
 */
export class OutsideWatch {
  readonly #suite: string | undefined
  readonly #isConfined: boolean
  readonly #workspaces: string
  readonly #suitePrint: Print
  readonly #settled = new Map<string, Print>()
  #isSuiteChanged = false

  private constructor(
    suite: string | undefined,
    workspaces: string,
    known: { suitePrint: Print; isConfined: boolean },
  ) {
    this.#suite = suite
    this.#workspaces = workspaces
    this.#suitePrint = known.suitePrint
    this.#isConfined = known.isConfined
  }

  /** Begins the watch. `isConfined`: commands can reach no other folder. */
  static async begin(suite: string | undefined, workspaces: string, isConfined: boolean): Promise<OutsideWatch> {
    const watched = isConfined ? undefined : suite
    const print = watched === undefined ? new Map() : await fingerprint(watched, isNoPart)
    return new OutsideWatch(watched, workspaces, { suitePrint: print, isConfined })
  }

  /** True if the suite has changed since the start. */
  get isSuiteChanged(): boolean {
    return this.#isSuiteChanged
  }

  begin(agentId: string): void {
    this.#settled.delete(agentId)
  }

  /** Called once a trial was made. Returns an error that names the files changed outside meanwhile; `undefined` if there are none. */
  async end(): Promise<ErrorInfo | undefined> {
    const changed: string[] = []
    if (this.#suite !== undefined) {
      const now = changedPaths(this.#suitePrint, await fingerprint(this.#suite, isNoPart))
      this.#isSuiteChanged ||= now.length > 0
      changed.push(...now.map((path) => join(this.#suite!, path)))
    }
    for (const [other, before] of this.#settled) {
      const now = await fingerprint(join(this.#workspaces, other), () => false)
      // Meanwhile its trial may have been begun again.
      if (!this.#settled.has(other)) continue
      changed.push(...changedPaths(before, now).map((path) => join(this.#workspaces, other, path)))
      this.#settled.set(other, now)
    }
    if (changed.length === 0) return undefined
    const more = changed.length > mostNamed ? ` and ${changed.length - mostNamed} more` : ''
    const what = `While this trial was made, files outside of its folder were changed: ${changed.slice(0, mostNamed).join(', ')}${more}.`
    return errorInfo('EVALUATION_OUTSIDE', what)
  }

  /** Watches a trial's folder from now on, because its content must no longer change. */
  async settle(agentId: string): Promise<void> {
    if (this.#isConfined) return
    this.#settled.set(agentId, await fingerprint(join(this.#workspaces, agentId), () => false))
    for (const oldest of this.#settled.keys()) {
      if (this.#settled.size <= mostWatched) return
      this.#settled.delete(oldest)
    }
  }
}
