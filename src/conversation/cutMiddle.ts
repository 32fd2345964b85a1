/** Keeps the head and the tail of a text of more than `maxChars` characters, with a marker that says how much is missing. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = Math.ceil(maxChars * 0.6)
  const tail = maxChars - head
  return `${text.slice(0, safeCut(text, head))}\n[… ${text.length - head - tail} of ${text.length} characters left out …]\n${text.slice(safeCut(text, text.length - tail))}`
}

/** Moves a cut off the middle of a surrogate pair. */
function safeCut(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
