/** Number of UTF-16 units reserved for the marker with any numbers in it. */
const markerRoom = 64

/**
 * Keeps the head and the tail of a text of more than `maxChars` UTF-16 units, with a marker for the number of
 * missing characters. The result is never longer than `maxChars` (100 or more).
 */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const room = Math.max(0, maxChars - markerRoom)
  const head = wholeBefore(text, Math.ceil(room * 0.6))
  const tail = wholeAfter(text, text.length - Math.floor(room * 0.4))
  return `${text.slice(0, head)}\n[… ${tail - head} of ${text.length} characters left out …]\n${text.slice(tail)}`
}

/** Cuts the end off a text of more than `maxChars` UTF-16 units, with an ellipsis. */
export const cutEnd = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, wholeBefore(text, maxChars - 1))}…`

/**
 * Keeps the part around position `at` of a text of more than `maxChars` UTF-16 units, on one line, with markers
 * for the number of missing characters. The result is never longer than `maxChars` (100 or more).
 */
export function cutAround(text: string, at: number, maxChars: number): string {
  if (text.length <= maxChars) return text
  const room = Math.max(0, maxChars - 2 * markerRoom)
  const start = Math.min(Math.max(0, at - Math.floor(room / 3)), text.length - room)
  const from = wholeAfter(text, start)
  const to = wholeBefore(text, start + room)
  const before = from === 0 ? '' : `[… ${from} characters …] `
  const after = to === text.length ? '' : ` [… ${text.length - to} characters …]`
  return `${before}${text.slice(from, to)}${after}`
}

/** Returns the text on one line, without control characters, in at most `maxChars` UTF-16 units. */
export function oneLine(text: string, maxChars: number): string {
  // Of a long text only as much is read as fills the line.
  for (let end = 4 * maxChars + 64; ; end *= 4) {
    const part = end < text.length ? text.slice(0, wholeBefore(text, end)) : text
    const line = part.replace(/[\s\p{Cc}]+/gu, ' ').trim()
    if (part === text || line.length > maxChars) return cutEnd(line, maxChars)
  }
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** Returns the last position at or before `at` that splits no character. */
const wholeBefore = (text: string, at: number): number =>
  isLowSurrogate(text.charCodeAt(at)) ? Math.max(0, at - 1) : at
const wholeAfter = (text: string, at: number): number => (isLowSurrogate(text.charCodeAt(at)) ? at + 1 : at)
