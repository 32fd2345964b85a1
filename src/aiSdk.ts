/** The door "escapement/ai-sdk": language models and tools of the AI SDK for use in this runtime, and agents for `useChat`. */

// Models and tools
export { aiSdkModel, type AiSdkModelOptions } from '../packages/ai-sdk/src/adapters/aiSdkModel.ts'
export { isAiSdkModel } from '../packages/ai-sdk/src/adapters/isAiSdkModel.ts'
export type { AiSdkModel } from './actors/models/anyModel.ts'
export { aiSdkTools } from '../packages/ai-sdk/src/adapters/aiSdkTools.ts'
export type { AiSdkToolSet } from './actors/define/outside.ts'
export { historyOf } from '../packages/ai-sdk/src/historyOf.ts'

// Chats
export { aiSdkChat } from '../packages/ai-sdk/src/aiSdkChat.ts'
export { uiMessageStream } from '../packages/ai-sdk/src/uiMessageStream.ts'
export { uiMessages } from '../packages/ai-sdk/src/uiMessages.ts'
export type { UiMessage, UiMessageChunk, UiMessagePart, UiMetadata } from '../packages/ai-sdk/src/uiTypes.ts'
