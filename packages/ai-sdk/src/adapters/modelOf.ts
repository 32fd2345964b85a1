import type { AnyModel } from '../../../../src/actors/models/anyModel.ts'
import { modelOf as ownModel } from '../../../../src/actors/models/modelOf.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { aiSdkModel } from './aiSdkModel.ts'
import { isAiSdkModel } from './isAiSdkModel.ts'

/** Returns the given `Model`, or one made from an AI SDK language model object. @throws RuntimeError `INVALID_DEFINITION` */
export const modelOf = (model: AnyModel, label: string): Model =>
  isAiSdkModel(model) ? aiSdkModel(model) : ownModel(model, label)
