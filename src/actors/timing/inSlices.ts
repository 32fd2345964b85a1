import type { Search } from '../../conversation/tree/excerpt.ts'
import { breather } from './breather.ts'

/** Resolves with the result of a long search, which lets timers and sockets have their turn. Rejects with the reason of `signal` if that aborts. */
export async function inSlices<T>(search: Search<T>, signal?: AbortSignal): Promise<T> {
  const breathe = breather()
  let next = search.next()
  while (next.done !== true) {
    await breathe()
    signal?.throwIfAborted()
    next = search.next()
  }
  return next.value
}
