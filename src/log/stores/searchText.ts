import type { LogRecord } from '../../protocol/records.ts'
import { lazily } from '../../protocol/lazily.ts'
import { textOf } from '../../protocol/text/messageText.ts'
import { foldText } from './foldText.ts'

/** A word; in scripts that put nothing between words, a character. */
const word = lazily(
  () =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{N}\p{M}])+/gu,
)
const asciiWord = /[a-z0-9]+/g
const ascii = /^[\0-\x7f]*$/
/** How much of a record is looked at, in characters. */
const mostChars = 20_000
/** How many terms of a query count. */
const mostTerms = 32

/** Part of a query: words that must follow one another. */
export interface Term {
  readonly words: readonly string[]
  /** True if the last word may be the beginning of a longer one. */
  readonly isOpen: boolean
}

/** Returns the text that is said in a record, to be searched; empty where nothing is. Pure. */
export const saidIn = (record: LogRecord): string =>
  record.type === 'message.added' || record.type === 'reply.end' || record.type === 'tool.end'
    ? textOf(record.message.content)
    : ''

/** The beginning of the text that a record says, as far as searches look. */
export interface Said {
  readonly seq: number
  readonly text: string
}

/** Returns the text that a record says, to be kept; `undefined` where nothing is. It holds nothing of a longer text in memory. Pure. */
export function keptOf(record: LogRecord): Said | undefined {
  const text = saidIn(record)
  if (text === '') return undefined
  const isLong = text.length > 2 * mostChars
  return { seq: record.seq, text: isLong ? copyOf(text.slice(0, 2 * mostChars)) : text }
}

/** Returns a copy of a part of a text: the part itself would keep the whole text in memory. */
const copyOf = (part: string): string => JSON.parse(JSON.stringify(part)) as string

/** Returns the words of a text as they are looked for; in scripts without spaces each character is one. Pure. */
export function searchWords(text: string): string[] {
  const folded = foldText(text.slice(0, mostChars))
  return folded.match(ascii.test(folded) ? asciiWord : word()) ?? []
}

/** Returns the terms that a query looks for: nothing in it is an operator. Empty: nothing can be found. Pure. */
export function termsIn(query: string): readonly Term[] {
  const terms = new Map<string, Term>()
  for (const part of query.slice(0, mostChars).split(/\s+/u)) {
    const words = searchWords(part)
    const last = words.at(-1)
    if (last !== undefined && terms.size < mostTerms)
      terms.set(words.join(' '), { words, isOpen: [...last].length > (ascii.test(last) ? 3 : 1) })
  }
  return [...terms.values()]
}

const before = 60
const after = 140

/** The text on one line around the first of the words that is found as it is written. Pure. */
export function excerptFor(text: string, terms: readonly Term[]): string {
  const line = text
    .slice(0, mostChars * 2)
    .replace(/\s+/gu, ' ')
    .trim()
  const lower = line.toLowerCase()
  const places = terms.map(({ words }) => lower.indexOf(words.at(-1)!)).filter((at) => at !== -1)
  const at = places.length === 0 || lower.length !== line.length ? 0 : Math.min(...places)
  const start = Math.max(0, at - before)
  const piece = line
    .slice(start, at + after)
    .toWellFormed()
    .replace(/^\uFFFD|\uFFFD$/gu, '')
  return `${start > 0 ? '…' : ''}${piece}${at + after < line.length ? '…' : ''}`
}

/** How often the terms are in a text; 0 unless each of them is. Pure. */
export function countTerms(text: string, terms: readonly Term[]): number {
  const words = ` ${searchWords(text).join(' ')} `
  let count = 0
  for (const { words: wanted, isOpen } of terms) {
    const found = words.split(` ${wanted.join(' ')}${isOpen ? '' : ' '}`).length - 1
    if (found === 0) return 0
    count += found
  }
  return count
}
