/** The door "escapement/ai-sdk": language models and tools of the AI SDK as those of this runtime, and agents for `useChat`. */

// Models and tools
export { aiSdkModel, type AiSdkModelOptions } from './actors/models/aiSdk/aiSdkModel.ts'
export { isAiSdkModel, type AiSdkModel } from './actors/models/aiSdk/isAiSdkModel.ts'
export { aiSdkTools, type AiSdkToolSet } from './actors/tools/aiSdk/aiSdkTools.ts'
export { historyOf } from '../packages/ai-sdk/src/historyOf.ts'

// Chats
export { aiSdkChat } from '../packages/ai-sdk/src/aiSdkChat.ts'
export { uiMessageStream } from '../packages/ai-sdk/src/uiMessageStream.ts'
export { uiMessages } from '../packages/ai-sdk/src/uiMessages.ts'
export type { UiMessage, UiMessageChunk, UiMessagePart, UiMetadata } from '../packages/ai-sdk/src/uiTypes.ts'
