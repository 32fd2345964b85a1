/**
 * Returns up to `most` non-overlapping positions of `wanted`, which must not be empty, in `text`. Uses
 * Knuth–Morris–Pratt, because `indexOf` is quadratic for repetitive text: minutes for a long run of one letter.
 */
export function placesOf(text: string, wanted: string, most: number): number[] {
  const codes = new Uint16Array(wanted.length)
  for (let at = 0; at < codes.length; at++) codes[at] = wanted.charCodeAt(at)
  const borders = bordersOf(codes)
  const places: number[] = []
  for (let at = 0, matched = 0; at < text.length && places.length < most; at++) {
    const code = text.charCodeAt(at)
    while (matched > 0 && codes[matched] !== code) matched = borders[matched]!
    if (codes[matched] === code) matched++
    if (matched < codes.length) continue
    places.push(at + 1 - codes.length)
    matched = 0
  }
  return places
}

/** Returns the failure function: for each prefix, the length of its longest proper prefix that is also a suffix. */
function bordersOf(codes: Uint16Array): Int32Array {
  const borders = new Int32Array(codes.length + 1)
  for (let at = 1, border = 0; at < codes.length; at++) {
    while (border > 0 && codes[border] !== codes[at]) border = borders[border]!
    if (codes[border] === codes[at]) border++
    borders[at + 1] = border
  }
  return borders
}
