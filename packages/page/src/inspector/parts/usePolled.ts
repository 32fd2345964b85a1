import { useEffect, useState } from 'preact/hooks'
import type { Client } from '../../../../bridge/src/client/index.ts'
import type { Clock } from '../../../../../src/protocol/ports/clock.ts'

/** A list that is requested from a server again and again. Only the functions of the first rendering are used. */
export interface Polled<T> {
  readonly ask: (client: Client) => Promise<readonly T[]>
  /** Returns the milliseconds until the next request; `null` if none follows. `hadSome`: true if a list was not empty. */
  readonly againMs: (hadSome: boolean) => number | null
}

/** Returns a list from a server, requested while there is a client. Empty before, and if the server refuses. */
export function usePolled<T>(clock: Clock, client: Client | null, { ask, againMs }: Polled<T>): readonly T[] {
  const [found, setFound] = useState<readonly T[]>([])
  useEffect(() => {
    if (client === null) return setFound([])
    let isOver = false
    let cancel = (): void => {}
    const poll = (hadSome: boolean): void => {
      ask(client).then(
        (list) => {
          if (isOver) return
          setFound(list)
          const hasSome = hadSome || list.length > 0
          const ms = againMs(hasSome)
          if (ms !== null) cancel = clock.after(ms, () => poll(hasSome))
        },
        // Not for this token, or a server that has no such list.
        () => {},
      )
    }
    poll(false)
    return () => {
      isOver = true
      cancel()
    }
  }, [client, clock])
  return found
}
