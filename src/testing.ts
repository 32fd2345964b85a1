export {
  memoryContract,
  type MemoryContractCase,
  type MemoryContractOptions,
} from '../packages/evaluation/src/testing/memoryContract.ts'
export {
  modelContract,
  type ContractEnd,
  type ModelContractOptions,
} from '../packages/evaluation/src/testing/modelContract.ts'
export { recordModel, type RecordingModel } from '../packages/evaluation/src/testing/recordModel.ts'
export {
  replayModel,
  type ReplayModel,
  type ReplayModelOptions,
} from '../packages/evaluation/src/testing/replayModel.ts'
export {
  scriptedModel,
  type ScriptedModel,
  type ScriptedReply,
} from '../packages/evaluation/src/testing/scriptedModel.ts'
export { simulatedClock, type SimulatedClock } from '../packages/evaluation/src/testing/simulatedClock.ts'
export { storeContract } from '../packages/evaluation/src/testing/storeContract.ts'
export { evaluate } from '../packages/evaluation/src/evaluate.ts'
export type { EvaluateOptions, Evaluation } from '../packages/evaluation/src/evaluateOptions.ts'
export type { OnProgress, ProgressState } from '../packages/evaluation/src/progress.ts'
export type { Report as EvaluationReport } from '../packages/evaluation/src/report/report.ts'
export type {
  ArmInfo,
  EvaluationHeader,
  Score,
  TaskInfo,
  TrialMetrics,
  TrialOutcome,
  TrialResult,
} from '../packages/evaluation/src/results.ts'
export type { StopReason } from '../packages/evaluation/src/stop.ts'
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
} from '../packages/evaluation/src/suite/defineSuite.ts'
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
} from '../packages/evaluation/src/suite/task.ts'
export { recordedSuite, type RecordedTask } from '../packages/evaluation/src/recordedSuite.ts'
