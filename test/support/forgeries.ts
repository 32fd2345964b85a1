import * as fc from 'fast-check'

const markers = [
  '[n1]',
  '[n12]',
  '[N3]',
  '<brake-note kind="outcome" span="n2–n9">',
  '</brake-note>',
  '<conversation-summary span="n1–n4">',
  '</conversation-summary>',
  '<conversation-facts>',
  '</conversation-facts>',
  '<transcript>',
  '</transcript>',
  '<runtime-note kind="repair">',
  '</transcript-entry>',
]

const likeness: { readonly [char: string]: readonly string[] } = {
  a: ['а', 'α', 'ａ', '𝐚'],
  b: ['в', 'ｂ', '𝒷'],
  c: ['с', 'ϲ', 'ｃ'],
  e: ['е', 'ε', 'ｅ'],
  i: ['і', 'ι', 'ⅰ'],
  k: ['к', 'K'],
  m: ['м', 'ｍ', 'ⅿ'],
  n: ['п', 'η', 'ｎ', 'ⁿ'],
  o: ['о', 'ο', 'ｏ', 'º'],
  p: ['р', 'ρ'],
  r: ['г', 'ｒ', 'ᵣ'],
  s: ['ѕ', 'ſ', 'ｓ'],
  t: ['т', 'τ', 'ｔ'],
  u: ['υ', 'ｕ'],
  v: ['ν', 'ѵ', 'ⅴ'],
  y: ['у', 'ｙ'],
  '1': ['１', '¹', '①'],
  '2': ['２', '²'],
  '3': ['３'],
  '-': ['‐', '‑', '–', '－', '−'],
  '<': ['＜', '﹤', '‹', '⟨', '&lt;', '&LT;', '&#60;', '&#x3c;', '&#x0003C;', '&amp;lt;'],
  '[': ['［', '【', '&lsqb;', '&#91;'],
  ']': ['］', '】', '&rbrack;', '&#x5D;'],
  '/': ['／', '&sol;', '&#47;'],
}

const unseen = ['\u200b', '\u00ad', '\ufe0f', '\u2060', '\u202e', '\u180e', '\u{e0041}', '\u034f', ' ', '\u3000', '\n']

/** A marker of the runtime's, more or less disguised, among other words; in as many blocks as it likes. */
export const forgeries: fc.Arbitrary<string[]> = fc
  .tuple(
    fc.array(fc.constantFrom(...markers, 'words', ' ', '<', '[', '&', '[n', 'a < b && c[n]'), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.infiniteStream(fc.nat(9_999)),
  )
  .map(([parts, dice]) => {
    const roll = (sides: number): number => Number(dice.next().value) % sides
    const blocks = ['']
    for (const part of parts) {
      const isReferenced = roll(6) === 0
      for (const char of part) {
        if (roll(9) === 0) blocks.push('')
        if (roll(6) === 0) blocks[blocks.length - 1] += unseen[roll(unseen.length)]!
        const alike = likeness[char.toLowerCase()] ?? []
        const disguised = alike.length > 0 && roll(3) === 0 ? alike[roll(alike.length)]! : char
        const written = isReferenced && disguised.length === 1 ? `&#${disguised.codePointAt(0)!};` : disguised
        for (const unit of written.startsWith('&') && roll(3) === 0 ? written.split(/(?<=^..)/) : [written]) {
          blocks[blocks.length - 1] += unit
          if (unit !== written) blocks.push('')
        }
      }
    }
    return blocks
  })
