import type { RecordedSession } from '../recordedSession.ts'

/** A recorded or made-up run, and what is known of it. */
export interface LabelledRun {
  /** The shape that it was made by, or the set that it is from. */
  readonly kind: string
  readonly session: RecordedSession
  /** Set for a made-up run: the step that its loop begins with, counted from 0; `null`: it has no loop. */
  readonly loopFrom?: number | null
  readonly verdict?: 'passed' | 'failed'
}
