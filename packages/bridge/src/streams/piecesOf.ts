/** Maximum length of a piece of an event, in UTF-16 units. */
const longestPiece = 64 * 1024

/** Yields a text in pieces of limited length without splitting characters. */
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

/** Yields a value as a server-sent event, in pieces. */
export const serverSent = (value: unknown): Generator<string, void, undefined> =>
  piecesOf(`data: ${JSON.stringify(value)}\n\n`)
