/** The door "escapement/policies": policies that choose which old steps are hidden, when, and what remains of them. */

// A policy and its parts
export { policy, type Policy, type PolicyOptions } from './actors/define/policy.ts'
export { when } from '../packages/policies/src/when.ts'
export { stuckTool } from '../packages/policies/src/stuck.ts'
export { decide } from '../packages/policies/src/decide.ts'
export { keep } from '../packages/policies/src/keep.ts'
export { episodes } from '../packages/policies/src/episodes.ts'
export { compositions, type Composition } from '../packages/policies/src/compositions.ts'

// Parts of one's own
export type {
  Answer,
  Decider,
  HiddenPart,
  Keeper,
  Kept,
  Plan,
  Question,
  StepView,
  Trigger,
} from './actors/define/policy.ts'
export { heuristicScorer, modelScorer, type StepScorer } from '../packages/policies/src/scorers.ts'
export type { Embed } from '../packages/policies/src/leastRelevant.ts'
export type { ArchivePort } from '../packages/policies/src/keepArchive.ts'
export type { MemoryItem } from '../packages/policies/src/keepMemory.ts'
