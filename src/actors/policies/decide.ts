import { askAgent } from './askAgent.ts'
import { leastRelevant } from './leastRelevant.ts'
import { oldest } from './oldest.ts'
import { range } from './range.ts'
import { reviewer } from './reviewer.ts'
import { scored } from './scored.ts'

/** Who decides what a policy hides: each makes a `Decider`. None of them chooses what a person said, what is pinned or otherwise fixed. */
export const decide = Object.freeze({ oldest, range, model: askAgent, reviewer, scored, leastRelevant })
