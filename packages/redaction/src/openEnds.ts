import { keyLinesBefore } from './knownKeys.ts'

/** Returns the longest end of a text that is an incomplete beginning of a secret. */
export function overlap(text: string, secret: string): number {
  const last = text.at(-1)
  for (let size = Math.min(text.length, secret.length - 1); size > 0; size--)
    if (secret[size - 1] === last && text.endsWith(secret.slice(0, size))) return size
  return 0
}

/** Maximum length of a run of characters without a secret that is held back until its end, in UTF-16 units. */
const mostHeld = 16_384
/** Length of the end that is held back from a longer run: longer than the shortest recognisable key of any known shape. */
const leastHeld = 512

/** Returns the position, or one nearer to the end if too much would be held back. */
export const notTooLong = (text: string, from: number): number =>
  text.length - from > mostHeld ? text.length - leastHeld : from

const isInKey = (char: string): boolean => /[\w.~+/=*-]/.test(char)

/**
 * Returns the position at which an unfinished key of a known shape would begin: the last run of key characters, including `Bearer` and the lines of a
 * private key.
 */
export function openKey(text: string): number {
  let start = text.length
  while (start > 0 && isInKey(text[start - 1]!)) start -= 1
  let before = start
  while (before > 0 && /\s/.test(text[before - 1]!)) before -= 1
  if (text.endsWith('Bearer', before) && before < text.length) start = before - 6
  const marker = text.lastIndexOf('-----')
  if (marker >= text.length - mostMarker && /^-----(?:BEGIN|END)[A-Z ]*-*$/.test(text.slice(marker)))
    start = Math.min(start, marker)
  return keyLinesBefore(text, start)
}

/** Length of `-----BEGIN ENCRYPTED PRIVATE KEY-----`, with some room. */
const mostMarker = 64

/** Returns the position of the last two words. A pattern that spans more words is found in records only. */
export function lastWords(text: string): number {
  let end = text.length
  for (let word = 0; word < 2; word += 1) {
    while (end > 0 && /\s/.test(text[end - 1]!)) end -= 1
    while (end > 0 && !/\s/.test(text[end - 1]!)) end -= 1
  }
  return end
}
