/** The door "escapement/testing": doubles and contracts for tests, and the evaluation of agents. */

// Doubles
export {
  scriptedModel,
  type ScriptedModel,
  type ScriptedReply,
} from '../packages/evaluation/src/testing/scriptedModel.ts'
export { recordModel } from '../packages/evaluation/src/testing/recordModel.ts'
export { replayModel } from '../packages/evaluation/src/testing/replayModel.ts'
export { simulatedClock, type SimulatedClock } from '../packages/evaluation/src/testing/simulatedClock.ts'

// Contracts that parts of one's own have to keep
export { memoryContract } from '../packages/evaluation/src/testing/memoryContract.ts'
export { modelContract } from '../packages/evaluation/src/testing/modelContract.ts'
export { workspaceContract } from '../packages/evaluation/src/testing/workspaceContract.ts'
export { storeContract } from '../packages/evaluation/src/testing/storeContract.ts'

// Evaluation
export { evaluate } from '../packages/evaluation/src/evaluate.ts'
export type { EvaluateOptions, Evaluation } from '../packages/evaluation/src/evaluateOptions.ts'
export type { Report as EvaluationReport } from '../packages/evaluation/src/report/report.ts'
export type { TrialResult } from '../packages/evaluation/src/results.ts'
export { recordedSuite } from '../packages/evaluation/src/recordedSuite.ts'
export {
  defineSuite,
  type Scorer,
  type SuiteDefinition,
  type TrialGiven,
} from '../packages/evaluation/src/suite/defineSuite.ts'
export type { Check, Task } from '../packages/evaluation/src/suite/task.ts'
