import type { Model } from '../../protocol/ports/model.ts'
import { type Gate, openStream } from './openStream.ts'

/** Returns a gate that lets another model answer every call. `gate` limits its calls, if given. */
export const standInGate = (gate: Gate | undefined, instead: (model: Model) => Model): Gate => ({
  pausedMs: (model) => gate?.pausedMs(model) ?? 0,
  call: (model, request, options, unlessPaused = false) =>
    openStream(instead(model), request, { ...options, unlessPaused, ...(gate === undefined ? {} : { gate }) }),
})

/** Returns a gate that calls `checkHeld` before each call of a model, because the agent may have waited for its turn or for another model. */
export const heldGate = (gate: Gate | undefined, checkHeld: () => void): Gate =>
  standInGate(gate, (model) => ({
    id: model.id,
    stream: (request, options) => {
      checkHeld()
      return model.stream(request, options)
    },
  }))
