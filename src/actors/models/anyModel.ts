import type { Model } from '../../protocol/model.ts'
import type { AiSdkModel } from './aiSdk/isAiSdkModel.ts'

/** Whatever may be given as a model: one of escapement's own, or one of the AI SDK as its provider's package makes it. */
export type AnyModel = Model | AiSdkModel
