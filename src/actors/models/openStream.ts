import type { Model, ModelError, ModelPart, ModelRequest } from '../../protocol/ports/model.ts'

interface CallOptions {
  readonly signal: AbortSignal
  readonly turnIndex?: number
  /** Set if no later request begins with this one. */
  readonly isOnce?: true
  /** Set if requests often come so late that a longer lifetime of their cache pays. */
  readonly comesLate?: true
}

/** Lets the calls of models through within the limits of a runtime. */
export interface Gate {
  /** Makes a call as soon as it may be made; `unlessPaused`: it fails with `pausedError` instead of waiting for its provider. */
  call(model: Model, request: ModelRequest, options: CallOptions, unlessPaused?: boolean): AsyncIterable<ModelPart>
  /** Returns the remaining pause of the provider of the model with this id, in milliseconds. */
  pausedMs(model: string): number
}

/**
 * Options with which a model is called within the library. A model that stands for others calls each of them with the options that it was
 * given.
 */
export interface StreamOptions extends CallOptions {
  readonly gate?: Gate
  /** True if another model can be asked while the provider of this one is paused. */
  readonly unlessPaused?: boolean
}

const choosing = new WeakSet<Model>()

/** Marks a model that makes no calls itself but lets other models answer. */
export function madeOfModels(model: Model): Model {
  choosing.add(model)
  return model
}

/** Returns true if a model makes no calls itself. */
export const isMadeOfModels = (model: Model): boolean => choosing.has(model)

/** Calls a model; through the gate, if there is one. */
export function openStream(model: Model, request: ModelRequest, options: StreamOptions): AsyncIterable<ModelPart> {
  if (choosing.has(model)) return model.stream(request, options)
  const { gate, unlessPaused = false, ...rest } = options
  return gate === undefined ? model.stream(request, rest) : gate.call(model, request, rest, unlessPaused)
}

/** Returns the time for which asking this model is useless, in milliseconds. */
export const pausedMs = (model: Model, { gate }: StreamOptions): number =>
  gate === undefined || choosing.has(model) ? 0 : gate.pausedMs(model.id)

/** Returns the error for a model that is not asked now. */
export const pausedError = (retryAfterMs: number): ModelError => ({
  kind: 'rateLimited',
  message: `the provider wants no calls for another ${retryAfterMs} ms`,
  retryAfterMs,
})

/** Returns a model that is called through a gate; the model itself without one. */
export const through = (gate: Gate | undefined, model: Model): Model =>
  gate === undefined
    ? model
    : { id: model.id, stream: (request, options) => openStream(model, request, { ...options, gate }) }
