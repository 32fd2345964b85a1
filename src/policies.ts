/** The door "escapement/policies": policies that choose which old steps are hidden, when, and what remains of them. */
export {
  policy,
  type Answer,
  type Consultation,
  type Decider,
  type FactToKeep,
  type HiddenPart,
  type Keeper,
  type Kept,
  type Plan,
  type Policy,
  type PolicyOptions,
  type Question,
  type Runnable,
  type StepView,
  type Trigger,
} from './actors/define/policy.ts'
export type { PolicyInfo } from './protocol/braking.ts'
export { when } from '../packages/policies/src/when.ts'
export type { ScoredStep, ValueBelowOptions } from '../packages/policies/src/valueBelow.ts'
export { heuristicScorer, modelScorer, type ModelScorerOptions, type Scorer } from '../packages/policies/src/scorers.ts'
export {
  compositions,
  type Composition,
  type CompositionOptions,
  type LayeredOptions,
  type PinnedOptions,
  type RetrievalOptions,
  type ReviewedOptions,
  type ScoredCompositionOptions,
  type SizedOptions,
} from '../packages/policies/src/compositions.ts'
export { decide } from '../packages/policies/src/decide.ts'
export type { AskOptions } from '../packages/policies/src/askAgent.ts'
export type { HideOptions } from '../packages/policies/src/choice.ts'
export type { Embed, RelevanceOptions } from '../packages/policies/src/leastRelevant.ts'
export type { RangeOptions } from '../packages/policies/src/range.ts'
export type { OwnReviewerOptions, ReviewOptions } from '../packages/policies/src/reviewer.ts'
export type { ScoredOptions } from '../packages/policies/src/scored.ts'
export { keep } from '../packages/policies/src/keep.ts'
export type { ArchivePort } from '../packages/policies/src/keepArchive.ts'
export type { KeepMemoryOptions, MemoryItem } from '../packages/policies/src/keepMemory.ts'
export type { SummaryOptions } from '../packages/policies/src/keepSummary.ts'
