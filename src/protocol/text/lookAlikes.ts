/** Number for the character that another character looks like: a lower-case ASCII code, one of the constants below, or a letter of `doubtful`. */
export type Likeness = number

/** Likenesses without a character: none that matters (`unlike`), invisible (`unseen`), and several characters in one (`several`, see `severalIn`). */
export const unlike = 0
export const unseen = 1
export const several = 2

/** Look-alikes that have no compatibility form, by the letter they resemble. */
const letters: { readonly [letter: string]: string } = {
  a: 'аαɑᴀⱥꭺꓮⲁᎪᗅ𐊠',
  b: 'вьβƀɓʙᏏᏼꓐⲃƅᗷ𐊂',
  c: 'сϲᴄȼꞓᏟꓚⲥ𐐽𐊢ʗ',
  d: 'ԁɗđᎠꓓᏧ',
  e: 'еєεɛᴇɇҽᎬꓰⲉ⋿𐊆',
  f: 'ғƒꓝϝꞙք𐊇',
  i: 'іιıɪɩᎥꓲⲓӏǀ∣Ꮖ𐊊',
  k: 'кқκĸᴋƙꝁᏦꓗⲕ',
  l: 'ꓡᏞ',
  m: 'мᴍɱꓟⲙᎷϻ𐊰',
  n: 'пηɴոռᴨɲŋƞղꓠⲛ',
  o: 'оοσօᴏøɵꓳⲟ০੦𐓪ჿ𐊒ဝ',
  p: 'рρᴘƿⲣᏢꓑϱ𐊕',
  r: 'гʀɍɾяᏒꓣᴦⲅɼᎡꮁ',
  s: 'ѕꜱꞩʂƽꓢᏚᏕ𐑈',
  t: 'тτᴛŧƭʈԏꓔⲧᎢ𐊗⊤†',
  u: 'սʋᴜцᥙꓴ⋃∪',
  v: 'ѵᴠꓦᏙⴸ∨⋁',
  x: 'хχꓫⲭ×᙮',
  y: 'уγʏƴɏꓬᎽүⲩᶌ𐊲ყ',
}

const signs: { readonly [sign: string]: string } = {
  '<': '<‹˂ᐸ❮❬⟨\u2329\u3008⟪⧼⪡≺⋖◁◃«ᚲ𝈶《',
  '[': '[❲〔⟦【⁅⟬⦋⦍⦏〚〘〖',
  ']': ']❳〕⟧】⁆⟭⦌⦎⦐〛〙〗',
  '/': '/\\⁄∕⧸╱⟋ノ丿⧵╲',
  '-': '-‐‒–—―−─━⁃˗۔ー➖᠆⸺⸻',
  '&': '&ꝸ',
}

/** Further forms of the characters that start a look-alike. */
const compatible: { readonly [sign: string]: string } = {
  '<': '＜﹤≮⊀︽︿',
  '[': '［﹇︗︹︻﹝🄪\u{1f240}-\u{1f248}',
  '&': '＆﹠',
}

/** Characters that resemble more than one letter; numbered from 128. */
const doubtful: readonly (readonly [chars: string, letters: string])[] = [
  ['ν', 'vn'],
  ['υү', 'uy'],
  ['μ', 'mu'],
  ['и', 'nu'],
]

/** The bit of a letter in `lettersOf`. */
export const bitOf = (letter: string): number => 1 << (letter.charCodeAt(0) - 0x61)

/** The letters that each likeness may stand for, one bit per letter. */
export const lettersOf = new Int32Array(256)
for (let code = 0x61; code <= 0x7a; code++) lettersOf[code] = 1 << (code - 0x61)
for (const char of 'il1|!') lettersOf[char.charCodeAt(0)] = bitOf('i') | bitOf('l')
lettersOf['0'.charCodeAt(0)] = bitOf('o')

const alike = new Map<string, Likeness>()
for (const [read, many] of [...Object.entries(letters), ...Object.entries(signs)]) {
  for (const char of many) alike.set(char, read.charCodeAt(0))
}
doubtful.forEach(([chars, either], index) => {
  for (const char of chars) alike.set(char, 128 + index)
  for (const letter of either) lettersOf[128 + index]! |= bitOf(letter)
})

const ignorable = /[\p{Default_Ignorable_Code_Point}\p{M}\p{Cc}\p{Cf}]/u
/** Pattern of spaces. It includes the soft hyphen, which may be visible as a hyphen, because white space also matches a hyphen. */
const space = /[\s\u00ad\u2800]/u
/** First code points of alphabets of 26 letters, a to z, that have no compatibility form. */
const alphabets = [0x1f150, 0x1f170, 0x1f1e6]

function likenessOf(char: string): Likeness {
  if (space.test(char)) return 0x20
  if (ignorable.test(char)) return unseen
  const lower = char.toLowerCase()
  const known = alike.get(char) ?? alike.get(lower)
  if (known !== undefined) return known
  if (lower.length === 1 && lower < '\x7f') return lower.charCodeAt(0)
  if (/\p{Nd}/u.test(char)) return 0x30
  const code = char.codePointAt(0)!
  const first = alphabets.find((from) => code >= from && code < from + 26)
  return first === undefined ? unlike : 0x61 + code - first
}

const inside = new Map<number, readonly Likeness[]>()

function look(code: number): Likeness {
  const char = String.fromCodePoint(code)
  // A few, such as the Hangul fillers, are ignorable although their compatibility form is not.
  if (alike.has(char) || ignorable.test(char)) return likenessOf(char)
  const parts = [...char.normalize('NFKD')].map(likenessOf).filter((part) => part !== unseen)
  if (parts.length === 1) return parts[0]!
  inside.set(code, parts)
  return several
}

/** Returns true for ideographs, Hangul and private-use characters. They resemble no letter, so no page is stored for them. */
const isFar = (code: number): boolean =>
  (code >= 0x3400 && code <= 0x9fff && code !== 0x4e3f) ||
  (code >= 0xac00 && code <= 0xfaff) ||
  (code >= 0x20000 && (code < 0xe0000 || code > 0xe0fff))

const pageSize = 256
const pages: (Uint8Array | undefined)[] = []

function pageOf(number: number): Uint8Array {
  const page = new Uint8Array(pageSize)
  for (let at = 0; at < pageSize; at++) {
    const code = number * pageSize + at
    page[at] = isFar(code) ? unlike : look(code)
  }
  return page
}

/** Returns the likeness of a code point, from pages of 256 that are built on first use. */
export function likeness(code: number): Likeness {
  if (isFar(code)) return unlike
  const number = code >> 8
  return (pages[number] ??= pageOf(number))[code & 0xff]!
}

/** Returns the likenesses of a code point that stands for several characters, or for no visible one. */
export const severalIn = (code: number): readonly Likeness[] => inside.get(code) ?? []

/** Returns the likenesses of the first 256 characters, ASCII among them. */
export const firstPage = (): Uint8Array => (pages[0] ??= pageOf(0))

/** Returns a pattern for characters that can be mistaken for one of these signs, which start a look-alike. */
export function alikeTo(...wanted: readonly ('<' | '[' | '&')[]): RegExp {
  const all = wanted.map((sign) => `${signs[sign]}${compatible[sign]}`).join('')
  return new RegExp(`[${all.replace('[', '\\[')}]`, 'u')
}
