/**
 * Where `wanted`, which is not empty, occurs in `text`, none overlapping the one before; at most `most` of them. Knuth, Morris and Pratt:
 * `indexOf` takes minutes for a text of one letter and a long `wanted` of the same with another in its middle.
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

/** How much of the beginning, short of all, a beginning of each length ends with. */
function bordersOf(codes: Uint16Array): Int32Array {
  const borders = new Int32Array(codes.length + 1)
  for (let at = 1, border = 0; at < codes.length; at++) {
    while (border > 0 && codes[border] !== codes[at]) border = borders[border]!
    if (codes[border] === codes[at]) border++
    borders[at + 1] = border
  }
  return borders
}
