/** A piece of JSON text. `plain`: brackets, commas, space. */
export interface JsonPart {
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'plain'
  readonly text: string
}

const pattern = /("(?:[^"\\]|\\[^])*(?:"|\\?$))(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g

/** Splits JSON text, cut short or not, into pieces that joined are the text again. Pure. */
export function jsonParts(text: string): JsonPart[] {
  const parts: JsonPart[] = []
  const add = (kind: JsonPart['kind'], piece: string | undefined): void => {
    if (piece !== undefined && piece !== '') parts.push({ kind, text: piece })
  }
  let at = 0
  for (const match of text.matchAll(pattern)) {
    const [whole, quoted, colon, number, word] = match
    add('plain', text.slice(at, match.index))
    add(colon === undefined ? 'string' : 'key', quoted)
    add('plain', colon)
    add('number', number)
    add('word', word)
    at = match.index + whole.length
  }
  add('plain', text.slice(at))
  return parts
}
