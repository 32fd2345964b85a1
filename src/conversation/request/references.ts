import type { Likeness } from '../../protocol/text/lookAlikes.ts'

/** Character references, in lower case, for part of a look-alike or for something invisible. */
const references: { readonly [meant: string]: readonly string[] } = {
  '&': ['amp'],
  '<': ['lt', 'nvlt', 'lang', 'lsaquo'],
  '[': ['lsqb', 'lbrack'],
  ']': ['rsqb', 'rbrack'],
  '/': ['sol', 'bsol'],
  '-': ['hyphen', 'dash', 'ndash', 'mdash', 'minus'],
  ' ': ['nbsp', 'ensp', 'emsp', 'thinsp', 'hairsp', 'tab', 'newline', 'shy'],
  '\u200b': ['zerowidthspace', 'zwnj', 'zwj', 'nobreak', 'lrm', 'rlm'],
}

/** Progress in reading a reference: `&`, a prefix of a name, or a number and its value so far. */
export type Place = number
export const afterSign: Place = 0
const afterHash: Place = 500
const decimal: Place = 1_000
const hex: Place = 3_000_000
const beyondAll = 0x110000

/** The next place, by place and letter. */
const further: (Place | undefined)[] = []
const meantAt: (number | undefined)[] = []
let places = 1
for (const [meant, names] of Object.entries(references)) {
  for (const name of names) {
    let place = afterSign
    for (const char of name) place = further[place * 26 + char.charCodeAt(0) - 0x61] ??= places++
    meantAt[place] = meant.codePointAt(0)!
  }
}

const hash = '#'.charCodeAt(0)
const letterX = 'x'.charCodeAt(0)
const isDigit = (like: Likeness): boolean => like >= 0x30 && like <= 0x39
const isHexLetter = (like: Likeness): boolean => like >= 0x61 && like <= 0x66

/** Returns the place after one more character; `undefined` if it does not belong to the reference. */
export function readOn(place: Place, like: Likeness): Place | undefined {
  if (place >= hex) {
    const digit = isDigit(like) ? like - 0x30 : isHexLetter(like) ? like - 0x57 : undefined
    return digit === undefined ? undefined : hex + Math.min(beyondAll, (place - hex) * 16 + digit)
  }
  if (place >= decimal)
    return isDigit(like) ? decimal + Math.min(beyondAll, (place - decimal) * 10 + like - 0x30) : undefined
  if (place === afterHash) {
    if (like === letterX) return hex
    return isDigit(like) ? decimal + like - 0x30 : undefined
  }
  if (like === hash && place === afterSign) return afterHash
  return like >= 0x61 && like <= 0x7a ? further[place * 26 + like - 0x61] : undefined
}

export const nameMeans = (place: Place): number | undefined => meantAt[place]

/** Returns the code point of a complete number; `undefined` if the place is not in one. */
export function numberMeans(place: Place): number | undefined {
  const value = place >= hex ? place - hex : place >= decimal ? place - decimal : beyondAll
  return value < beyondAll ? value : undefined
}
