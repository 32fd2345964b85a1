import type { RequestMessage } from '../../../../../../src/protocol/ports/model.ts'

/**
 * Relation of a message to the request before. `kept`: at the same place from the beginning on, so that a provider's
 * cache can know it; `moved`: there too, after a change; `new`: not there.
 */
export type MessageMark = 'kept' | 'moved' | 'new'

/** The messages of a request, compared with those of the request before. */
export interface RequestMarks {
  /** Marks, one for each message. */
  readonly marks: readonly MessageMark[]
  /** Indexes, in the request before, of messages that are no longer sent. */
  readonly gone: readonly number[]
}

/** Returns the numbers of messages that moved, that are new and that are gone. Pure. */
export function markCounts({ marks, gone }: RequestMarks): Readonly<Record<'moved' | 'added' | 'gone', number>> {
  const of = (wanted: MessageMark): number => marks.filter((mark) => mark === wanted).length
  return { moved: of('moved'), added: of('new'), gone: gone.length }
}

/** Compares messages with those of the request before, of which the first `kept` are the same. Pure. */
export function requestMarks(
  before: readonly RequestMessage[],
  now: readonly RequestMessage[],
  kept: number,
): RequestMarks {
  const places = new Map<string, number[]>()
  for (let at = kept; at < before.length; at++) {
    const key = JSON.stringify(before[at])
    const same = places.get(key)
    if (same === undefined) places.set(key, [at])
    else same.push(at)
  }
  const marks = now.map((message, at): MessageMark => {
    if (at < kept) return 'kept'
    return places.get(JSON.stringify(message))?.shift() === undefined ? 'new' : 'moved'
  })
  return { marks, gone: [...places.values()].flat().toSorted((a, b) => a - b) }
}
