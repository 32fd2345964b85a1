import type { change } from './graft/graftWords.ts'

/** Words about brakes, by those who say them. */
export * as brakeWords from './graft/graftWords.ts'

/** An applied change of the trunk in a summary of a session. */
export type BrakeChange = ReturnType<(typeof change)[keyof typeof change]>
