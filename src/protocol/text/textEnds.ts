/**
 * Returns the text without those signs at its end. Written by hand: `/x+$/` begins anew at each of them, which takes quadratic time on a long run
 * that something follows. `signs`: each one UTF-16 unit. Pure.
 */
export function withoutEnd(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}

/** The text without those signs at its beginning and end. Pure; linear. */
export function withoutEnds(text: string, signs: string): string {
  let start = 0
  while (start < text.length && signs.includes(text[start]!)) start += 1
  return withoutEnd(text.slice(start), signs)
}
