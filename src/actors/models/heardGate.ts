import type { Clock } from '../../protocol/ports/clock.ts'
import type { Model, ModelPart } from '../../protocol/ports/model.ts'
import type { Gate } from './openStream.ts'
import { leave } from './relay.ts'
import { standInGate } from './standInGate.ts'

/**
 * Returns a gate for which a model that is silent for `ms` counts as disconnected, because a server may keep a connection open for ever with pings.
 * The wait for the gate does not count.
 */
export const heardGate = (gate: Gate | undefined, clock: Clock, ms: number | undefined): Gate | undefined =>
  ms === undefined ? gate : standInGate(gate, (model) => heard(model, clock, ms))

const heard = (model: Model, clock: Clock, ms: number): Model => ({
  id: model.id,
  stream(request, options) {
    const parts: Partial<AsyncIterable<ModelPart>> | undefined = model.stream(request, options)
    const iterator = parts?.[Symbol.asyncIterator]?.()
    // What is wrong with it is said by whoever reads it.
    if (iterator === undefined) return parts as AsyncIterable<ModelPart>
    return watched(iterator, { clock, ms, signal: options.signal })
  },
})

interface Watch {
  readonly clock: Clock
  readonly ms: number
  readonly signal: AbortSignal
}

/** Uses one timer for all parts, which checks the time of the last part when it fires. */
function watched(parts: AsyncIterator<ModelPart>, { clock, ms, signal }: Watch): AsyncIterableIterator<ModelPart> {
  let waiting: { readonly since: number; readonly giveUp: () => void } | undefined
  let isOver = false
  let cancel: (() => void) | undefined
  const end = (): void => {
    isOver = true
    cancel?.()
    signal.removeEventListener('abort', end)
  }
  const look = (): void => {
    const left = waiting === undefined ? ms : waiting.since + ms - clock.now()
    if (left > 0) cancel = clock.after(left, look)
    else waiting?.giveUp()
  }
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const unlessSilent = (next: Promise<IteratorResult<ModelPart>>): Promise<IteratorResult<ModelPart>> =>
    new Promise((resolve, reject) => {
      waiting = {
        since: clock.now(),
        giveUp: () => {
          void leave(parts)
          const message = `The model said nothing for ${ms} ms.`
          resolve({ done: false, value: { type: 'error', error: { kind: 'network', message } } })
        },
      }
      // Asking for the part may have ended it.
      if (!isOver) cancel ??= clock.after(ms, look)
      next.then(resolve, reject)
    })
  return {
    async next() {
      if (isOver) return parts.next()
      try {
        const next = await unlessSilent(parts.next())
        if (next.done === true || next.value?.type === 'done' || next.value?.type === 'error') end()
        return next
      } catch (thrown) {
        end()
        throw thrown
      } finally {
        waiting = undefined
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
