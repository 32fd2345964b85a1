import type { Model, ModelPart } from '../../protocol/ports/model.ts'
import { type Gate, Silence, silenceError, type SilenceLimit } from './openStream.ts'
import { leave } from './relay.ts'

/**
 * Returns a gate for which a model that is silent for too long counts as disconnected, because a server may keep a connection open for ever with
 * pings. The wait for the gate does not count.
 */
export const heardGate = (gate: Gate | undefined, limit: SilenceLimit): Gate => ({
  pausedMs: (model) => gate?.pausedMs(model) ?? 0,
  call: (model, request, options, unlessPaused = false) =>
    gate === undefined
      ? heard(model, limit).stream(request, options)
      : gate.call(heard(model, limit), request, options, unlessPaused),
})

const heard = (model: Model, limit: SilenceLimit): Model => ({
  id: model.id,
  stream(request, options) {
    const parts: Partial<AsyncIterable<ModelPart>> | undefined = model.stream(request, options)
    const iterator = parts?.[Symbol.asyncIterator]?.()
    // What is wrong with it is said by whoever reads it.
    return iterator === undefined ? (parts as AsyncIterable<ModelPart>) : heardParts(iterator, limit, options.signal)
  },
})

type Part = IteratorResult<ModelPart>

function heardParts(
  parts: AsyncIterator<ModelPart>,
  limit: SilenceLimit,
  signal: AbortSignal,
): AsyncIterableIterator<ModelPart> {
  let answer: ((part: Part) => void) | undefined
  const silence = new Silence(limit, () => {
    void leave(parts)
    answer?.({ done: false, value: { type: 'error', error: silenceError(limit) } })
  })
  const end = (): void => {
    silence.end()
    signal.removeEventListener('abort', end)
  }
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  return {
    async next() {
      try {
        const part = await new Promise<Part>((resolve, reject) => {
          answer = resolve
          const next = parts.next()
          // Asking for the part may have ended it.
          silence.begin()
          next.then(resolve, reject)
        })
        silence.pause()
        if (part.done === true || part.value?.type === 'done' || part.value?.type === 'error') end()
        return part
      } catch (thrown) {
        end()
        throw thrown
      }
    },
    async return() {
      end()
      await leave(parts)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
