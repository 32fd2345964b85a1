import { EventType, type Event } from '@ag-ui/core'

/** Longest piece of an event that is written at once, in UTF-16 units. */
const longestPiece = 64 * 1024

/** A server-sent event in pieces: of a whole conversation only one message at a time is in memory as text. */
export function* eventText(event: Event): Generator<string, void, undefined> {
  if (event.type !== EventType.MESSAGES_SNAPSHOT) return yield* piecesOf(`data: ${JSON.stringify(event)}\n\n`)
  const { messages, ...rest } = event
  let before = `data: ${JSON.stringify(rest).slice(0, -1)},"messages":[`
  for (const message of messages) {
    yield* piecesOf(before + JSON.stringify(message))
    before = ','
  }
  yield before === ',' ? ']}\n\n' : `${before}]}\n\n`
}

/** A text in pieces that are not too long; no character is cut in two. */
export function* piecesOf(text: string, longest = longestPiece): Generator<string, void, undefined> {
  let from = 0
  while (text.length - from > longest) {
    const to = isHighSurrogate(text.charCodeAt(from + longest - 1)) ? from + longest - 1 : from + longest
    yield text.slice(from, to)
    from = to
  }
  yield text.slice(from)
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
