import type { Failure } from './failure.ts'
import type { Suspect } from './suspects.ts'
import type { Token } from './tokens.ts'

/** A place in a source file, as the mutations see it. */
export interface Site {
  readonly file: Suspect
  readonly index: number
  readonly token: Token
  readonly failure: Failure
  /** Names of functions that give promises, in any of the sources. */
  readonly asyncNames: ReadonlySet<string>
  /** Number of occurrences of each name in all sources and tests. */
  readonly nameCounts: ReadonlyMap<string, number>
}
