/** A text with some of its escapes decoded, and the position of each character in the original text. */
export interface TextView {
  readonly text: string
  /** Returns the position in the text of a character of the view. The length of the view maps to the length of the text. */
  at(index: number): number
}

const backslash = 92
/** Characters of simple escapes such as `\n`. A quote or any other character stands for itself. */
const meanings: { readonly [letter: string]: number } = { b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '0': 0 }

/** Maximum nesting of escapes: text in JSON in JSON in JSON. */
const mostLevels = 3

/**
 * Yields a text, then its decoded form as JSON or source code, in which a secret may be written with `\"`, `\n` or `\u0070`. Nested texts are decoded
 * several times. Each view is linear in the text.
 */
export function* viewsOf(text: string): Generator<TextView, void, undefined> {
  let view: TextView | undefined = { text, at: (index) => index }
  for (let level = 0; level <= mostLevels && view !== undefined; level++) {
    yield view
    view = undoEscapes(view)
  }
}

function undoEscapes({ text, at }: TextView): TextView | undefined {
  if (!text.includes('\\')) return undefined
  const codes = new Uint16Array(text.length)
  const places = new Uint32Array(text.length + 1)
  let length = 0
  for (let index = 0; index < text.length;) {
    places[length] = at(index)
    const code = text.charCodeAt(index)
    const size = code === backslash ? escapeSize(text, index) : 1
    codes[length++] = size === 1 ? code : meaningOf(text, index, size)
    index += size
  }
  if (length === text.length) return undefined
  places[length] = at(text.length)
  return { text: Buffer.from(codes.buffer, 0, length * 2).toString('utf16le'), at: (index) => places[index]! }
}

const hex = /^[\da-f]+$/i

/** Returns the length of the escape at a backslash; 1 if no escape begins there. */
function escapeSize(text: string, index: number): number {
  const letter = text[index + 1]
  if (letter === undefined) return 1
  const digits = letter === 'u' ? 4 : letter === 'x' ? 2 : 0
  if (digits === 0) return letter in meanings || !/[\w\s]/.test(letter) ? 2 : 1
  const size = 2 + digits
  return text.length >= index + size && hex.test(text.slice(index + 2, index + size)) ? size : 1
}

const meaningOf = (text: string, index: number, size: number): number =>
  size > 2
    ? Number.parseInt(text.slice(index + 2, index + size), 16)
    : (meanings[text[index + 1]!] ?? text.charCodeAt(index + 1))

/** Returns a text without an incomplete escape at its end. */
export const withoutOpenEscape = (text: string): string => {
  let end = text.length
  while (end > 0 && end > text.length - 4 && /[\da-fA-Fux]/.test(text[end - 1]!)) end -= 1
  const tail = text.slice(end)
  let start = end
  while (start > 0 && text.charCodeAt(start - 1) === backslash) start -= 1
  const isOpen = start < end && (tail === '' || /^(?:u[\da-fA-F]{0,3}|x[\da-fA-F]?)$/.test(tail))
  return isOpen ? text.slice(0, start) : text
}
