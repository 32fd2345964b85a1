const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00A0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  deg: '°',
  plusmn: '±',
  le: '≤',
  ge: '≥',
  ne: '≠',
  larr: '←',
  rarr: '→',
}

/** Returns a text with its character references decoded: numbers, and the common names. Others stay as they are. Pure. */
export const withoutEntities = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,6}));/g, (whole, tens, hex, name) => {
        if (name !== undefined) return Object.hasOwn(named, String(name)) ? named[String(name)]! : whole
        return characterOf(tens === undefined ? Number.parseInt(String(hex), 16) : Number(tens))
      })
    : text

const isCharacter = (code: number): boolean => code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff)

const characterOf = (code: number): string => (isCharacter(code) ? String.fromCodePoint(code) : '\uFFFD')
