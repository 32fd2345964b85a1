import type { Failure } from './failure.ts'
import type { Suspect } from './suspects.ts'
import type { Token } from './tokens.ts'

/** A token in a source file, with the context that mutations need. */
export interface Site {
  readonly file: Suspect
  readonly index: number
  readonly token: Token
  readonly failure: Failure
  /** Names of functions in any source that return promises. */
  readonly asyncNames: ReadonlySet<string>
  /** Number of occurrences of each name in all sources and tests. */
  readonly nameCounts: ReadonlyMap<string, number>
}
