import { askAgent } from './askAgent.ts'
import { leastRelevant } from './leastRelevant.ts'
import { oldest } from './oldest.ts'
import { range } from './range.ts'
import { reviewer } from './reviewer.ts'
import { scored } from './scored.ts'

/**
 * Functions that make a `Decider`, which chooses the steps that a policy hides. None of them chooses messages of people, or steps that are
 * pinned or otherwise fixed.
 */
export const decide = Object.freeze({ oldest, range, model: askAgent, reviewer, scored, leastRelevant })
