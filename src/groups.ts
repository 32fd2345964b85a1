/** The door "escapement/groups": agents that work side by side or one after the other, with a judge and one budget. */

// Side by side
export { parallel, race, type ParallelResult } from '../packages/groups/src/parallel.ts'
export type { Judge } from '../packages/groups/src/judge.ts'

// One after the other
export { pipeline, type PipelineResult } from '../packages/groups/src/pipeline.ts'

// Many inputs
export { each } from '../packages/groups/src/each.ts'
export type { Each, EachItem, EachOptions, EachResult } from '../packages/groups/src/eachTypes.ts'

// Beside an agent
export { reviewed } from '../packages/groups/src/reviewed.ts'
export type { Reviewing, Reviewer, ReviewFinding, ReviewWork } from '../packages/groups/src/reviewTypes.ts'

// Their parts
export type { Branch } from '../packages/groups/src/branch.ts'
