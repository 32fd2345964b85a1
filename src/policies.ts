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
} from './actors/policies/policy.ts'
export type { PolicyInfo } from './protocol/braking.ts'
export { when } from './actors/policies/when.ts'
export type { ScoredStep, ValueBelowOptions } from './actors/policies/valueBelow.ts'
export { heuristicScorer, modelScorer, type ModelScorerOptions, type Scorer } from './actors/policies/scorers.ts'
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
} from './actors/policies/compositions.ts'
export { decide } from './actors/policies/decide.ts'
export type { AskOptions } from './actors/policies/askAgent.ts'
export type { HideOptions } from './actors/policies/choice.ts'
export type { Embed, RelevanceOptions } from './actors/policies/leastRelevant.ts'
export type { RangeOptions } from './actors/policies/range.ts'
export type { OwnReviewerOptions, ReviewOptions } from './actors/policies/reviewer.ts'
export type { ScoredOptions } from './actors/policies/scored.ts'
export { keep } from './actors/policies/keep.ts'
export type { ArchivePort } from './actors/policies/keepArchive.ts'
export type { KeepMemoryOptions, MemoryItem } from './actors/policies/keepMemory.ts'
export type { SummaryOptions } from './actors/policies/keepSummary.ts'
