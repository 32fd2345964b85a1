/** The door "escapement/ai-sdk": language models and tools of the AI SDK as those of this runtime, and agents for `useChat`. */
export { aiSdkModel, type AiSdkModelOptions } from './actors/models/aiSdk/aiSdkModel.ts'
export { isAiSdkModel, type AiSdkModel } from './actors/models/aiSdk/isAiSdkModel.ts'
export { historyOf, type AiSdkMessage } from '../packages/ai-sdk/src/historyOf.ts'
export type { AiSdkTool } from './actors/tools/aiSdk/aiSdkTool.ts'
export { aiSdkTools, type AiSdkToolSet, type AiSdkToolsOptions } from './actors/tools/aiSdk/aiSdkTools.ts'
export { aiSdkChat, type AiSdkChatOptions } from '../packages/ai-sdk/src/aiSdkChat.ts'
export { uiMessageStream } from '../packages/ai-sdk/src/uiMessageStream.ts'
export { uiMessages } from '../packages/ai-sdk/src/uiMessages.ts'
export type {
  UiFilePart,
  UiFinishReason,
  UiMessage,
  UiMessageChunk,
  UiMessagePart,
  UiMetadata,
  UiPlainPart,
  UiTextPart,
  UiToolPart,
} from '../packages/ai-sdk/src/uiTypes.ts'
