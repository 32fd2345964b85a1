import type { change } from './graft/graftWords.ts'

/** Texts about brakes, grouped by where they appear. */
export * as brakeWords from './graft/graftWords.ts'

/** Description of an applied trunk change in a session summary. */
export type BrakeChange = ReturnType<(typeof change)[keyof typeof change]>
