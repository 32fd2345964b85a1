import type { AnyModel } from './anyModel.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { Model } from '../../protocol/ports/model.ts'
import { aiSdkModel } from './aiSdk/aiSdkModel.ts'
import { isAiSdkModel } from './aiSdk/isAiSdkModel.ts'

/**
 * Returns the given `Model`, or one made from an AI SDK language model object.
 * @throws RuntimeError `INVALID_DEFINITION` naming what was given instead.
 */
export function modelOf(model: AnyModel, label: string): Model {
  if (isAiSdkModel(model)) return aiSdkModel(model)
  const { id, stream } = (model ?? {}) as Partial<Model>
  if (typeof id === 'string' && typeof stream === 'function') return model
  const seen = typeof model === 'string' ? JSON.stringify(model) : typeof model
  const what = `${label}: a model has an "id" and a "stream", or is an AI SDK language model object; this is ${seen}.`
  throw new RuntimeError('INVALID_DEFINITION', what)
}
