import type { AnyModel } from '../../../src/actors/models/anyModel.ts'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { checkedBy, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { errorOfReply } from '../../../src/protocol/checks/judgeReply.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { Model, ModelError, ModelErrorKind, ModelPart, ModelRequest } from '../../../src/protocol/ports/model.ts'
import { asksForCache, cachingModel } from '../../../src/actors/models/cachingModels.ts'
import { modelOf } from '../../ai-sdk/src/adapters/modelOf.ts'
import {
  madeOfModels,
  openStream,
  pausedError,
  pausedMs,
  type StreamOptions,
} from '../../../src/actors/models/openStream.ts'
import { leave, relay, type Source } from '../../../src/actors/models/relay.ts'

export interface FallbackOptions {
  /**
   * Returns true if the next model is to be asked after this error of the model with the given id. Default: always,
   * unless the request is to blame (`badRequest`) or too long (`overflow`, which leads to a compaction).
   */
  readonly on?: (error: ModelError, model: string) => boolean
}

const optionsSchema = lazily(() =>
  onlyFields({ on: z.custom((value) => typeof value === 'function', 'give a function').optional() }),
)

const notTheModels: ReadonlySet<ModelErrorKind> = new Set(['badRequest', 'overflow'])
const retried: ReadonlySet<ModelErrorKind> = new Set(['rateLimited', 'network', 'other'])

const unlessTheRequest = ({ kind }: ModelError): boolean => !notTheModels.has(kind)

/**
 * Creates a model that asks the first of these and, each time one fails, the next, at once and also in the middle of a reply: the partial reply is taken back (`reply.reset`, whose `next` is the model asked now). Its id is that of the first; each reply says which model it is of. Only when the
 * last has failed too does the agent's `retry` apply, and begin again with the first. The kind of that error is one that is retried, if any
 * model's was.
 *
 * @throws RuntimeError `INVALID_DEFINITION`: no list of models, or none in it.
 *
 * @example
 * ```ts
 * const backup = policyModel(() => 'Please try again later.')
 * const careful = fallback([model, backup], { on: ({ kind }) => kind === 'rateLimited' || kind === 'network' })
 * ```
 */
export function fallback(models: readonly AnyModel[], options: FallbackOptions = {}): Model {
  if (!Array.isArray(models) || models.length === 0)
    throw new RuntimeError('INVALID_DEFINITION', 'fallback takes a list of at least one model.')
  checkedBy(optionsSchema(), options, 'fallback', 'INVALID_DEFINITION')
  const { on = unlessTheRequest } = options
  const asked = models.map((model, index) => modelOf(model, `fallback: model ${index + 1}`))
  const model = madeOfModels({
    id: asked[0]!.id,
    stream: (request, how) => relay((source) => askInTurn(asked, on, { request, how, source })),
  })
  return cachingModel(model, (settings) => asked.some((each) => asksForCache(each, settings)))
}

interface Call {
  readonly request: ModelRequest
  readonly how: StreamOptions
  readonly source: Source
}

async function* askInTurn(
  models: readonly Model[],
  on: NonNullable<FallbackOptions['on']>,
  call: Call,
): AsyncGenerator<ModelPart, void> {
  const failures: Failure[] = []
  for (const [index, model] of models.entries()) {
    const before = failures.at(-1)
    yield { type: 'model', model: model.id, ...(before === undefined ? {} : { after: before.error }) }
    const isLast = index === models.length - 1
    // It may have to wait for its turn, and its provider may want no more calls then.
    const asking = isLast ? call : { ...call, how: { ...call.how, unlessPaused: true } }
    const failure = (isLast ? undefined : pauseOf(model, call)) ?? (yield* ask(model, asking))
    if (failure === undefined) return
    failures.push(failure)
    const isNext = !isLast && isLeft(on, failure)
    if (isNext === true) continue
    // What no model was asked for has a code of its own.
    if (failures.every(isRefused)) throw failure.thrown
    const error = errorOf(failures)
    const message = typeof isNext === 'string' ? `${messageOf(error.message)} (${isNext})` : error.message
    return yield { type: 'error', error: { ...error, message } }
  }
}

interface Failure {
  readonly model: string
  readonly error: ModelError
  /** Value that a model threw. */
  readonly thrown?: unknown
}

const isRefused = ({ thrown }: Failure): boolean => thrown instanceof RuntimeError

/** Returns true if the next model is to be asked. If the function throws, it is not: then the result is a text that says why. */
function isLeft(on: NonNullable<FallbackOptions['on']>, { model, error }: Failure): boolean | string {
  try {
    return on(error, model)
  } catch (thrown) {
    return `"on" of fallback threw: ${messageOf(thrown)}`
  }
}

/** Returns the failure of a model whose provider is paused. The caller does not wait for it, because there is another model. */
function pauseOf(model: Model, { how }: Call): Failure | undefined {
  const retryAfterMs = pausedMs(model, how)
  return retryAfterMs === 0 ? undefined : { model: model.id, error: pausedError(retryAfterMs) }
}

/** Passes on the parts of a model's reply; returns why it failed, if it did. */
async function* ask(model: Model, { request, how, source }: Call): AsyncGenerator<ModelPart, Failure | undefined> {
  let isDone = false
  const failed = (error: ModelError): Failure => ({ model: model.id, error })
  try {
    const parts = source.read(openStream(model, request, how))
    for (;;) {
      const { done, value } = await parts.next()
      if (done === true) break
      if (value?.type === 'error') {
        void leave(parts)
        return failed(value.error)
      }
      // Where it has no content, what is wrong with it is said elsewhere.
      const broken =
        value?.type === 'done' && value.reply?.content !== undefined ? errorOfReply(value.reply) : undefined
      if (broken !== undefined) {
        void leave(parts)
        return failed(broken)
      }
      isDone ||= value?.type === 'done'
      yield value
    }
  } catch (thrown) {
    if (!isDone) return { ...failed({ kind: 'other', message: messageOf(thrown) }), thrown }
  }
  if (isDone || how.signal.aborted) return undefined
  return failed({ kind: 'network', message: 'the stream ended without "done" or "error"' })
}

/** Returns the error of the last model; if that is not retried, the error of a model that may be asked again. */
function errorOf(failures: readonly Failure[]): ModelError {
  const { error } = failures.at(-1)!
  const later = failures.map((each) => each.error).filter(({ kind }) => retried.has(kind))
  if (failures.length === 1 || later.length === 0) return withEarlier(error, failures)
  const waits = later.map(({ retryAfterMs }) => retryAfterMs ?? 0)
  const { retryAfterMs: _, ...rest } = error
  const kind = retried.has(error.kind) ? error.kind : later.at(-1)!.kind
  const soonest = Math.min(...waits)
  return withEarlier({ ...rest, kind, ...(soonest > 0 ? { retryAfterMs: soonest } : {}) }, failures)
}

const withEarlier = (error: ModelError, failures: readonly Failure[]): ModelError => {
  const earlier = failures.slice(0, -1).map((each) => `${each.model}: ${messageOf(each.error.message)}`)
  return earlier.length === 0
    ? error
    : { ...error, message: `${messageOf(error.message)} (before it ${earlier.join('; ')})` }
}
