const narrow = new Set("iljftrI1.,:;'|!()[]{}`/\\ -")
const broad = new Set('mwMW@%—…')

/** Returns the maximum width of a character as a share of the font size, over today's usual sans-serif fonts. */
function emOf(character: string): number {
  if (narrow.has(character)) return 0.42
  if (broad.has(character)) return 1
  if (/^[A-Z&+=<>~#$?]$/.test(character)) return 0.74
  if (/^[\u0020-\u024F]$/.test(character)) return 0.62
  if (/^\p{Mark}$/u.test(character)) return 0
  return /^[\u0250-\u10FF\u2000-\u206F]$/.test(character) ? 0.8 : 1.1
}

/** Returns the width of a line of text in pixels, rather too large than too small. Pure: the same everywhere. */
export function measureText(text: string, fontSize: number): number {
  let em = 0
  for (const character of text) em += emOf(character)
  return Math.ceil(em * fontSize)
}

/** Returns the beginning of a text that fits into `width` pixels; a cut is marked by "…". */
export function fitText(text: string, fontSize: number, width: number): string {
  if (measureText(text, fontSize) <= width) return text
  let fits = ''
  let em = 1
  for (const character of text) {
    em += emOf(character)
    if (em * fontSize > width) break
    fits += character
  }
  return `${fits}…`
}

/** Breaks a text at spaces into lines of at most `width` pixels; a longer word stays whole. */
export function wrapText(text: string, fontSize: number, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)!} ${word}`
    if (lines.length > 0 && measureText(longer, fontSize) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
