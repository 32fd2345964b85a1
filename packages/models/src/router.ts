import type { AiSdkModel, AnyModel } from '../../../src/actors/models/anyModel.ts'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { asSentence, checkedBy, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { Model, ModelRequest } from '../../../src/protocol/ports/model.ts'
import { isAiSdkModel } from '../../ai-sdk/src/adapters/isAiSdkModel.ts'
import { modelOf } from '../../ai-sdk/src/adapters/modelOf.ts'
import { madeOfModels, openStream } from '../../../src/actors/models/openStream.ts'
import { relay } from '../../../src/actors/models/relay.ts'

/** Chooses the model that answers a request. It is given the request itself, which it must not change. */
export type ChooseModel = (request: ModelRequest, at: { readonly signal: AbortSignal }) => AnyModel | Promise<AnyModel>

export interface RouterOptions {
  /** The model's id before one is chosen, such as in `run.start`. Default `'router'`. */
  readonly id?: string
}

const optionsSchema = lazily(() => onlyFields({ id: z.string().min(1).optional() }))

/**
 * A model that lets another model answer, chosen anew for each request, retries included. Each reply says which model it is of. A function
 * that throws, or does not return a model, ends the run with `ROUTER_FAILED`; nothing is lost.
 *
 * @throws RuntimeError `INVALID_DEFINITION` for anything but a function.
 *
 * @example
 * ```ts
 * const small = policyModel(() => 'In short: yes.')
 * const thrifty = router(({ messages }) => (messages.length > 40 ? model : small))
 * ```
 */
export function router(choose: ChooseModel, options: RouterOptions = {}): Model {
  if (typeof choose !== 'function')
    throw new RuntimeError('INVALID_DEFINITION', `router takes a function that returns a model, not ${typeof choose}.`)
  checkedBy(optionsSchema(), options, 'router', 'INVALID_DEFINITION')
  const id = options.id ?? 'router'
  const adapters = new WeakMap<AiSdkModel, Model>()
  const adapted = (chosen: AnyModel): Model => {
    if (!isAiSdkModel(chosen)) return modelOf(chosen, id)
    const model = adapters.get(chosen) ?? modelOf(chosen, id)
    adapters.set(chosen, model)
    return model
  }
  return madeOfModels({
    id,
    stream: (request, how) =>
      relay(async function* (source) {
        const model = await chosenBy(async () => adapted(await choose(request, { signal: how.signal })), id)
        yield { type: 'model', model: model.id }
        const parts = source.read(openStream(model, request, how))
        for (;;) {
          const { done, value } = await parts.next()
          if (done === true) return
          yield value
        }
      }),
  })
}

async function chosenBy(choose: () => Promise<Model>, id: string): Promise<Model> {
  try {
    return await choose()
  } catch (thrown) {
    throw new RuntimeError('ROUTER_FAILED', `${id} chose no model: ${asSentence(messageOf(thrown))}`, {
      cause: thrown,
    })
  }
}
