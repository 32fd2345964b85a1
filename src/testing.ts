export { modelContract, type ModelContractOptions } from './actors/models/modelContract.ts'
export { scriptedModel, type ScriptedModel, type ScriptedReply } from './actors/models/scriptedModel.ts'
export { simulatedClock, type SimulatedClock } from './runtime/simulatedClock.ts'
export { storeContract } from './runtime/stores/storeContract.ts'
