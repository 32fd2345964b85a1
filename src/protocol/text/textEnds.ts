/**
 * Returns the text without these characters at its end. It uses no regular expression because `/x+$/` takes
 * quadratic time on a long run that is followed by something else. `signs` are single UTF-16 units. Pure.
 */
export function withoutEnd(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}

/** Returns the text without these characters at its beginning and end. Pure; linear. */
export function withoutEnds(text: string, signs: string): string {
  let start = 0
  while (start < text.length && signs.includes(text[start]!)) start += 1
  return withoutEnd(text.slice(start), signs)
}
