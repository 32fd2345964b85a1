import type { Model, ModelError, ModelPart, ModelRequest } from '../../protocol/ports/model.ts'
import type { Clock } from '../../protocol/ports/clock.ts'

/** Time for which a model may say nothing. */
export interface SilenceLimit {
  readonly clock: Clock
  readonly ms: number
}

export const silenceError = ({ ms }: SilenceLimit): ModelError => ({
  kind: 'network',
  message: `The model said nothing for ${ms} ms.`,
})

/** Calls `giveUp` once a part was awaited for too long. Uses one timer for all parts of a stream, which looks at the time when it fires. */
export class Silence {
  readonly #limit: SilenceLimit
  readonly #giveUp: () => void
  /** Time since which a part is awaited, if one is. */
  #since: number | undefined
  #isOver = false
  #cancel: (() => void) | undefined

  constructor(limit: SilenceLimit, giveUp: () => void) {
    this.#limit = limit
    this.#giveUp = giveUp
  }

  /** Notes that a part was asked for. */
  begin(): void {
    if (this.#isOver) return
    const { clock, ms } = this.#limit
    this.#since = clock.now()
    this.#cancel ??= clock.after(ms, this.#look)
  }

  /** Notes that the part came. */
  pause(): void {
    this.#since = undefined
  }

  end(): void {
    this.#isOver = true
    this.#cancel?.()
  }

  readonly #look = (): void => {
    const { clock, ms } = this.#limit
    const now = clock.now()
    // A clock that was set back would have it wait for as much longer.
    this.#since = this.#since === undefined ? undefined : Math.min(this.#since, now)
    const left = this.#since === undefined ? ms : this.#since + ms - now
    if (left > 0) this.#cancel = clock.after(left, this.#look)
    else this.#giveUp()
  }
}

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
