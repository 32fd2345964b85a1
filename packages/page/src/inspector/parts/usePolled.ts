import { useEffect, useState } from 'preact/hooks'
import type { Client } from '../../../../bridge/src/client/index.ts'
import type { Clock } from '../../../../../src/protocol/ports/clock.ts'

/** A list that a server is asked for again and again. The functions are those of the first draw. */
export interface Polled<T> {
  readonly ask: (client: Client) => Promise<readonly T[]>
  /** Milliseconds until it is asked again; `null`: never. `hadSome`: the list was not empty once. */
  readonly againMs: (hadSome: boolean) => number | null
}

/** A list from a server, asked for while there is a client; empty before, and where the server refuses. */
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
