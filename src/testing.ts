export { memoryContract, type MemoryContractCase, type MemoryContractOptions } from './testing/memoryContract.ts'
export { modelContract, type ContractEnd, type ModelContractOptions } from './testing/modelContract.ts'
export { recordModel, type RecordingModel } from './testing/recordModel.ts'
export { replayModel, type ReplayModel, type ReplayModelOptions } from './testing/replayModel.ts'
export { scriptedModel, type ScriptedModel, type ScriptedReply } from './testing/scriptedModel.ts'
export { simulatedClock, type SimulatedClock } from './testing/simulatedClock.ts'
export { storeContract } from './testing/storeContract.ts'
export { evaluate } from './evaluation/evaluate.ts'
export type { EvaluateOptions, Evaluation } from './evaluation/evaluateOptions.ts'
export type { OnProgress, ProgressState } from './evaluation/progress.ts'
export type { Report as EvaluationReport } from './evaluation/report/report.ts'
export type {
  ArmInfo,
  EvaluationHeader,
  Score,
  TaskInfo,
  TrialMetrics,
  TrialOutcome,
  TrialResult,
} from './evaluation/results.ts'
export type { StopReason } from './evaluation/stop.ts'
export {
  defineSuite,
  type AgentSource,
  type CommandResult,
  type Overlay,
  type ScoredTrial,
  type Scorer,
  type ScorerAnswer,
  type SuiteDefinition,
  type TrialGiven,
  type TrialPlace,
} from './evaluation/suite/defineSuite.ts'
export type {
  AnswerCheck,
  Check,
  CommandCheck,
  FileCheck,
  JsonCheck,
  JudgeCheck,
  ScorerCheck,
  Task,
  TaskLimits,
} from './evaluation/suite/task.ts'
export { recordedSuite, type RecordedTask } from './evaluation/recordedSuite.ts'
