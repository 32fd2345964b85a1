import type { AnyModel } from './anyModel.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { Model } from '../../protocol/ports/model.ts'
import { outside } from '../define/outside.ts'

/**
 * Returns the given `Model`, or one made from a model of another library.
 * @throws RuntimeError `INVALID_DEFINITION` naming the value that was given instead.
 */
export function modelOf(model: AnyModel, label: string): Model {
  const read = outside.model?.(model)
  if (read !== undefined) return read
  const { id, stream } = (model ?? {}) as Partial<Model>
  if (typeof id === 'string' && typeof stream === 'function') return model as Model
  const seen = typeof model === 'string' ? JSON.stringify(model) : typeof model
  const what = `${label}: a model has an "id" and a "stream", or is an AI SDK language model object; this is ${seen}.`
  throw new RuntimeError('INVALID_DEFINITION', what)
}
