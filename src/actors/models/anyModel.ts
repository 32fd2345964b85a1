import type { Model } from '../../protocol/ports/model.ts'
import type { AiSdkModel } from './aiSdk/isAiSdkModel.ts'

/** A model as options take it: one of escapement's own, or one of the AI SDK as its provider's package makes it. */
export type AnyModel = Model | AiSdkModel
