import type { Model } from '../../protocol/ports/model.ts'
import { type Gate, openStream } from './openStream.ts'

/** A gate behind which another model answers in place of each that is called; `gate`: the limits that its calls keep to, if there are any. */
export const standInGate = (gate: Gate | undefined, instead: (model: Model) => Model): Gate => ({
  pausedMs: (model) => gate?.pausedMs(model) ?? 0,
  call: (model, request, options, unlessPaused = false) =>
    openStream(instead(model), request, { ...options, unlessPaused, ...(gate === undefined ? {} : { gate }) }),
})
