import { graftWords } from './graft/graftWords.ts'

/** Words about brakes, by those who say them. */
export const brakeWords = graftWords

/** An applied change of the trunk in a summary of a session. */
export type BrakeChange = ReturnType<(typeof brakeWords.change)[keyof typeof brakeWords.change]>
