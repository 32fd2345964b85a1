import { RuntimeError } from '../protocol/errors.ts'

/** UTF-16 units of the longest line accepted; a longer one is not ours. */
export const maxLineChars = 256 * 1024 * 1024

/**
 * Cuts text that comes in pieces, split anywhere, into its lines, without their newlines; a last line needs none.
 *
 * @throws RuntimeError `INVALID_OPTION` for a piece that is not a string, `LOG_CORRUPT` for a line of more than `maxChars`.
 */
export async function* textLines(
  pieces: AsyncIterable<string> | Iterable<string>,
  maxChars = maxLineChars,
): AsyncGenerator<string, void, undefined> {
  let begun: string[] = []
  let length = 0
  let line = 1
  const add = (part: string): void => {
    length += part.length
    if (length > maxChars)
      throw new RuntimeError('LOG_CORRUPT', `Line ${line} has more than ${maxChars} characters: it is not a record.`)
    if (part !== '') begun.push(part)
  }
  const end = (): string => {
    const text = begun.join('')
    begun = []
    length = 0
    line += 1
    return text
  }
  // A string would come apart into its characters.
  for await (const piece of typeof pieces === 'string' ? [pieces] : pieces) {
    if (typeof piece !== 'string')
      throw new RuntimeError('INVALID_OPTION', 'The lines are to come as text: read the file with encoding "utf8".')
    let start = 0
    for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', start)) {
      add(piece.slice(start, at))
      start = at + 1
      yield end()
    }
    add(piece.slice(start))
  }
  if (begun.length > 0) yield end()
}
