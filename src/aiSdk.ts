/** The door "escapement/ai-sdk": AI SDK language models as models of this runtime. */
export { aiSdkModel, type AiSdkModelOptions } from './actors/models/aiSdk/aiSdkModel.ts'
export { isAiSdkModel, type AiSdkModel } from './actors/models/aiSdk/isAiSdkModel.ts'
export { historyOf, type AiSdkMessage } from './actors/models/aiSdk/historyOf.ts'
