/** Letters of other scripts by look-alike, each with the letter that it resembles. */
const confusable: { readonly [letter: string]: string } = {
  а: 'a',
  α: 'a',
  в: 'b',
  с: 'c',
  ϲ: 'c',
  е: 'e',
  ε: 'e',
  і: 'i',
  ι: 'i',
  к: 'k',
  κ: 'k',
  м: 'm',
  п: 'n',
  η: 'n',
  о: 'o',
  ο: 'o',
  р: 'p',
  ρ: 'p',
  г: 'r',
  ѕ: 's',
  т: 't',
  τ: 't',
  υ: 'u',
  ν: 'v',
  ѵ: 'v',
  у: 'y',
  '‐': '-',
  '‑': '-',
  '–': '-',
  '−': '-',
  '‹': '<',
  '⟨': '<',
  '〈': '<',
  '【': '[',
  '】': ']',
}

const named: { readonly [name: string]: string } = {
  lt: '<',
  gt: '>',
  amp: '&',
  lsqb: '[',
  lbrack: '[',
  rsqb: ']',
  rbrack: ']',
  sol: '/',
  hyphen: '-',
  nbsp: ' ',
  shy: '\u00ad',
  zerowidthspace: '\u200b',
}

const decode = (text: string): string =>
  text.replace(
    /&(?:#x([\da-f]{1,8})|#(\d{1,9})|([a-z]+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? whole
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )

const plain = (text: string): string =>
  [
    ...text
      .normalize('NFKC')
      .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
      .toLowerCase(),
  ]
    .map((char) => confusable[char] ?? char)
    .join('')

/** Text as a careless reader sees it: without compatibility forms, invisible characters, look-alikes, references and spaces. */
export const readLoosely = (text: string): string => plain(decode(decode(plain(text)))).replace(/\s/g, '')

/** Markers that such a reader would take for those of the runtime itself, in order. */
export const markersIn = (text: string): string[] =>
  readLoosely(text).match(
    /<\/?(?:brake-note|conversation-summary|conversation-facts|runtime-note|transcript)|\[n\d+\]/g,
  ) ?? []
