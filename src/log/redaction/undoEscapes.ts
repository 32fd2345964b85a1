/** A text as it reads once some of its escapes are undone, and where each of its characters stands in the text itself. */
export interface TextView {
  readonly text: string
  /** Returns where a character of the view begins in the text; for the length of the view, the length of the text. */
  at(index: number): number
}

const backslash = 92
/** `n` in `\n` and so on; a quote or another sign stands for itself. */
const meanings: { readonly [letter: string]: number } = { b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '0': 0 }

/** Deepest nesting of escapes: text in JSON in JSON in JSON. */
const mostLevels = 3

/**
 * Yields a text, and the text that results if it is read as JSON or source code: a secret inside is written with `\"`, `\n` or `\u0070`,
 * several times over when one text was put into another. Each view is linear in the text.
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

/** Characters of the escape that begins at a backslash; 1 if no escape begins there. */
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

/** A text without an escape at its end that may still grow. */
export const withoutOpenEscape = (text: string): string => {
  let end = text.length
  while (end > 0 && end > text.length - 4 && /[\da-fA-Fux]/.test(text[end - 1]!)) end -= 1
  const tail = text.slice(end)
  let start = end
  while (start > 0 && text.charCodeAt(start - 1) === backslash) start -= 1
  const isOpen = start < end && (tail === '' || /^(?:u[\da-fA-F]{0,3}|x[\da-fA-F]?)$/.test(tail))
  return isOpen ? text.slice(0, start) : text
}
