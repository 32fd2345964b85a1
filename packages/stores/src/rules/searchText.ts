import type { LogRecord } from '../../../../src/protocol/records.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { textOf } from '../../../../src/protocol/text/messageText.ts'
import { foldText } from '../../../../src/protocol/text/foldText.ts'

/** Pattern of a word or, in scripts without spaces, of a single character. */
const word = lazily(
  () =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{N}\p{M}])+/gu,
)
const asciiWord = /[a-z0-9]+/g
const ascii = /^[\0-\x7f]*$/
/** Number of characters of a record's text that are searched. */
const mostChars = 20_000
/** Maximum number of terms in a query. */
const mostTerms = 32

/** Term of a query: consecutive words. */
export interface Term {
  readonly words: readonly string[]
  /** True if the last word may be the beginning of a longer one. */
  readonly isOpen: boolean
}

/** Returns the searchable text of a record; empty if there is none. Pure. */
export const saidIn = (record: LogRecord): string =>
  record.type === 'message.added' || record.type === 'reply.end' || record.type === 'tool.end'
    ? textOf(record.message.content)
    : ''

/** The searchable text of a record, and its `seq`. */
export interface Said {
  readonly seq: number
  readonly text: string
}

/** Returns the text of a record for an index, cut to a bounded length; `undefined` if there is none. Pure. */
export function keptOf(record: LogRecord): Said | undefined {
  const text = saidIn(record)
  if (text === '') return undefined
  const isLong = text.length > 2 * mostChars
  return { seq: record.seq, text: isLong ? copyOf(text.slice(0, 2 * mostChars)) : text }
}

/** Returns a copy of a part of a text. A slice would keep the whole text in memory. */
const copyOf = (part: string): string => JSON.parse(JSON.stringify(part)) as string

/** Returns the searchable words of a text. In scripts without spaces each character is a word. Pure. */
export function searchWords(text: string): string[] {
  const folded = foldText(text.slice(0, mostChars))
  return folded.match(ascii.test(folded) ? asciiWord : word()) ?? []
}

/** Returns the terms of a query, which has no operators. An empty list finds nothing. Pure. */
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

/** Returns an excerpt, on one line, around the first word that occurs exactly as written. Pure. */
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

/** Returns the number of occurrences of the terms in a text; 0 unless all of them occur. Pure. */
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
