/** A text with every CRLF turned into LF, and the way back. */
export interface UnifiedText {
  readonly text: string
  /** Whether most lines of the original end in CRLF. */
  readonly usesCrlf: boolean
  /** Where a place of `text` is in the original; in front of a turned newline it is in front of its CR. */
  original(index: number): number
}

/** Makes matching independent of line endings while everything outside an edit stays as it is, byte for byte. */
export function unifyLineEndings(original: string): UnifiedText {
  const removed: number[] = []
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2))
    removed.push(at - removed.length)
  const text = removed.length === 0 ? original : toLf(original)
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

/** How many numbers of a sorted list are below `limit`. */
function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}
