import type { Model } from '../../protocol/ports/model.ts'
import type { AiSdkModel } from './aiSdk/isAiSdkModel.ts'

/** A model as accepted by options: one of escapement's own, or an AI SDK model from a provider's package. */
export type AnyModel = Model | AiSdkModel
