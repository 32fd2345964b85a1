import type { ToolSpec } from '../../../../../../src/index.ts'
import type { MadeStep } from '../scenario.ts'
import type { Workplace } from '../workplace.ts'

/** Runs in the likeness of a recorded set that is kept aside: what they do and how much of it was taken from the published figures of that set. */
export interface Likeness {
  readonly name: string
  readonly tools: readonly ToolSpec[]
  /** Tools that declare that they poll. */
  readonly polling: readonly string[]
  /** Share of the runs that pass. */
  readonly passed: number
  /** Makes the steps of a run that passed, or failed. */
  passing(at: Workplace): readonly MadeStep[]
  failing(at: Workplace): readonly MadeStep[]
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))

/** Steps that read another file each. */
export const look = (at: Workplace, least: number, most: number): MadeStep[] =>
  at.files(at.random.between(least, most)).map((file) => at.step(at.read(file)))
