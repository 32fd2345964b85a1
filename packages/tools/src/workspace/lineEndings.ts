/** A text with every CRLF turned into LF, and the mapping back. */
export interface UnifiedText {
  readonly text: string
  /** True if most lines of the original end in CRLF. */
  readonly usesCrlf: boolean
  /** Maps an index of `text` to the original; for a converted newline, the index of its CR. */
  original(index: number): number
}

/** Returns a text with unified line endings. Matching can ignore line endings, while everything outside an edit is preserved byte for byte. */
export function unifyLineEndings(original: string): UnifiedText {
  const lines = original.split('\r\n')
  if (lines.length === 1) return { text: original, usesCrlf: false, original: (index) => index }
  const text = lines.join('\n')
  const removed = new Int32Array(lines.length - 1)
  for (let line = 0, at = 0; line < removed.length; line++) {
    at += lines[line]!.length
    removed[line] = at++
  }
  const newlines = text.split('\n').length - 1
  return {
    text,
    usesCrlf: removed.length * 2 > newlines,
    original: (index) => index + countBelow(removed, index),
  }
}

/** Turns CRLF into LF. */
export const toLf = (text: string): string => text.replaceAll('\r\n', '\n')

/** Turns every line ending into CRLF. */
export const toCrlf = (text: string): string => toLf(text).replaceAll('\n', '\r\n')

/** Returns how many numbers of a sorted list are below `limit`. */
function countBelow(sorted: Int32Array, limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}
