/** Pattern of accents and the vowel points of Hebrew and Arabic, which many people omit. */
const marks = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/gu
const ascii = /^[\0-\x7f]*$/

/** Returns a text in lower case and without accents, for comparison. Pure. */
export const foldText = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : text.normalize('NFKD').toLowerCase().replace(marks, '').normalize('NFC')
