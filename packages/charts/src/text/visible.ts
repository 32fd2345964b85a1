import { lazily } from '../../../../src/protocol/lazily.ts'

/** Matches text in which no character is, or looks like, another. */
const plain = /^[\n\u0020-\u007E]*$/
/** Matches spaces that readers neither see nor count. */
const manySpaces = / {20,}| {1,19}(?=\n|$)/g
const spacesIn = / {20}| (?:\n|$)/

const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u
/** Characters that may appear elsewhere on a line with right-to-left letters. */
const turned = /[A-Za-z0-9()<>[\]{}/\\]/

interface Tables {
  /** A word, or one other character. */
  readonly pieces: RegExp
  readonly oneScript: RegExp
  /** Words of other scripts that look like Latin ones or like signs. */
  readonly looksLatin: RegExp
  /** Characters that no other character looks like. */
  readonly sign: RegExp
  readonly picture: RegExp
  readonly letter: RegExp
}

const scripts =
  'Greek Cyrillic Armenian Hebrew Arabic Devanagari Bengali Gurmukhi Gujarati Tamil Telugu Kannada Malayalam Sinhala Thai Lao Khmer Myanmar Tibetan Georgian Ethiopic'
    .split(' ')
    .map((name) => `\\p{Script_Extensions=${name}}`)
const together = ['\\p{Script=Hangul}\\p{Script=Han}', '\\p{Script=Han}\\p{scx=Hiragana}\\p{scx=Katakana}']
/** Letters of European and Vietnamese alphabets, without those that differ from others only by details that are hard to see. */
const latin =
  'A-Za-z0-9\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u0130\\u0134-\\u0137\\u0139-\\u013E\\u0141-\\u0148\\u014A-\\u017E\\u01A0\\u01A1\\u01AF\\u01B0\\u01CD-\\u01DC\\u0218-\\u021B\\u1E9E\\u1EA0-\\u1EF9'

const tables = lazily((): Tables => ({
  pieces: /[\p{L}\p{M}\p{N}]+|[^]/gu,
  oneScript: new RegExp(
    `^(?:[${latin}]+|${[...scripts, ...together].map((script) => `[${script}]+`).join('|')})$`,
    'u',
  ),
  looksLatin:
    /^[асԁеһіјӏорԛѕуѵԝхкгпиьүҮАВЕЗІЈКМНОРԚЅТУѴԜХЬГПѐёїαβγηικμνορτυχωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹօոսհոցզԼՍՏՕיוןסاهہةყჿဝ০੦ーノ一ニ丨丿口工卜力八]+$/u,
  sign: /^[\n\u0020-\u007E¡¢£¥§©®°±¶·¿÷€…—“”„†•←↑→↓↔✓✔✗✘┌┐└┘├┤┬┴┼、。「」『』【】《》！？，：；（）]$/u,
  picture: /^(?!\p{Cn})[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u,
  letter: /\p{L}/u,
}))

const escaped = (char: string): string =>
  char === '\t' ? '⟨tab⟩' : `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Returns true unless a character is another form of one or several others (NFKC), and for two vowels that have no other form. */
const isCompact = (char: string): boolean => char.normalize('NFKC') === char || char === '\u0E33' || char === '\u0EB3'

/** Renders a word. A letter that looks like another one is named, and so is a combining mark that could be part of a letter. */
function shownWord(word: string): string {
  if (/^[A-Za-z0-9]+$/.test(word)) return word
  const { oneScript, looksLatin } = tables()
  const isPlain = oneScript.test(word) && !looksLatin.test(word)
  let before = ''
  let marks = 0
  return Array.from(word, (char) => {
    const last = before
    before = char
    if (char <= '\u007F') return char
    marks = /\p{M}/u.test(char) ? marks + 1 : 0
    const joins =
      marks > 0 && (marks > 2 || last === '' || (last + char).normalize('NFC').length < (last + char).length)
    return isPlain && !joins && !/\p{N}/u.test(char) && isCompact(char) ? char : escaped(char)
  }).join('')
}

function shownLine(line: string): string {
  const { pieces, sign, picture, letter } = tables()
  const isTurned = rightToLeft.test(line) && turned.test(line)
  return line.replace(pieces, (piece, at: number) => {
    if (/^[\p{L}\p{M}\p{N}]/u.test(piece)) {
      return isTurned && rightToLeft.test(piece)
        ? Array.from(piece, (char) => (char <= '\u007F' ? char : escaped(char))).join('')
        : shownWord(piece)
    }
    // Between letters it is an apostrophe, whatever its form.
    if (piece === '’')
      return letter.test(line[at - 1] ?? '') && letter.test(line[at + 1] ?? '') ? piece : escaped(piece)
    return sign.test(piece) || (picture.test(piece) && isCompact(piece)) ? piece : escaped(piece)
  })
}

/**
 * Renders a text so that people see all of it. Characters that are invisible, reorder others or look like others are named, `⟨U+202E⟩`, and so is `⟨`
 * itself. Many spaces, and spaces at the end of a line, are counted. Line breaks stay. Two different texts never look the same. Pure.
 */
export function visible(text: string): string {
  const shown = plain.test(text) ? text : text.split('\n').map(shownLine).join('\n')
  if (!spacesIn.test(shown)) return shown
  return shown.replace(manySpaces, ({ length }) => `⟨${length} ${length === 1 ? 'space' : 'spaces'}⟩`)
}
