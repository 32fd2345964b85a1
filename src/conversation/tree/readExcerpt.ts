import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import { bestLine, excerptAround, linesBetween, slice, startOfLine, type Search } from './excerpt.ts'
import { termsOf, type Term } from './searchSteps.ts'

/** The part of a text to read: from a line on, the lines that match the query, or both. */
export interface ExcerptRequest {
  readonly query?: string | undefined
  readonly lines?: number | undefined
  /** The first line to show or to search, counted from 1. */
  readonly from?: number | undefined
}

interface Named {
  readonly name: string
  /** Kind of the text, shown in brackets after its name. */
  readonly what: string
}

/** Result of reading. `isError`: true if the request was not answered, and the text says why. */
export interface Read {
  readonly text: string
  readonly isError: boolean
}

export const defaultLines = 120
/** Maximum number of characters of an answer, without the lines that name its source. */
const mostChars = 12_000

const refusal = (text: string): Read => ({ text, isError: true })
const quoted = (text: string): string => JSON.stringify(cutEnd(text, 80))
const evenly = (terms: readonly Term[]): readonly number[] => terms.map(() => 1)

/** Reads a part of a long text, bounded, under the name of the text. */
export function* readExcerpt(
  text: string,
  { name, what, query, lines = defaultLines, from = 1 }: ExcerptRequest & Named,
): Search<Read> {
  const terms = query === undefined ? undefined : termsOf(query)
  if (terms?.length === 0) return refusal(nothingToLookFor(query!))
  const all = 1 + (yield* linesBetween(text, 0, text.length))
  const start = yield* startOfLine(text, from)
  if (start === undefined) return refusal(`${name} has ${count(all, 'line')}: give a "from" up to that.`)
  const place = terms === undefined ? { line: start, hit: start } : yield* bestLine(text, terms, evenly(terms), start)
  if (place === undefined) {
    const where = from === 1 ? '' : ` from line ${from} on`
    return refusal(`${name}${where} holds nothing of ${quoted(query!)}; without a "query" its text is shown.`)
  }
  const excerpt = excerptAround(text, place, { lines, chars: mostChars }, start)
  const first = from + (yield* linesBetween(text, start, excerpt.start))
  const next = first + excerpt.lines
  const more = next <= all ? `"from": ${next}` : 'a smaller "from"'
  const left = all - excerpt.lines
  return {
    isError: false,
    text: [
      headOf(`${name} (${what})`, first, excerpt.lines, all),
      excerpt.text,
      ...(left === 0 ? [] : [`(${count(left, 'line')} not shown: give ${more}, or a "query" to search ${name}.)`]),
      ...(excerpt.isCut ? ['(Long lines are cut: a "query" shows what stands around it.)'] : []),
    ].join('\n'),
  }
}

/** Returns the heading of an answer: the name, the shown lines and their total. */
export function headOf(name: string, first: number, lines: number, all: number): string {
  if (lines === all) return `${name}:`
  return lines === 1 ? `${name}, line ${first} of ${all}:` : `${name}, lines ${first}–${first + lines - 1} of ${all}:`
}

const count = (amount: number, what: string): string => `${amount} ${what}${amount === 1 ? '' : 's'}`

export const nothingToLookFor = (query: string): string => `${quoted(query)} holds no word and no name to look for.`

/** Maximum line length. Longer lines are broken, so that all of them can be read. */
const longestLine = 2_000

/** Yields a text with its long lines broken into several. */
export function* wrapped(text: string): Search<string> {
  const parts: string[] = []
  let done = 0
  let unread = slice
  for (let start = 0; start < text.length;) {
    const end = endOf(text, start)
    for (let at = start; end - at > longestLine; at = done) {
      const to = isLow(text.charCodeAt(at + longestLine)) ? at + longestLine + 1 : at + longestLine
      if (to === end) break
      parts.push(text.slice(done, to), '\n')
      done = to
    }
    unread -= end - start
    start = end + 1
    if (unread > 0) continue
    yield
    unread = slice
  }
  return done === 0 ? text : [...parts, text.slice(done)].join('')
}

/** Counts the lines of a text once it is `wrapped`, ignoring breaks that move to keep a character whole. */
export function* rowsOf(text: string): Search<number> {
  let rows = 0
  let unread = slice
  for (let start = 0; start <= text.length;) {
    const end = endOf(text, start)
    rows += Math.max(1, Math.ceil((end - start) / longestLine))
    unread -= end - start
    start = end + 1
    if (unread > 0) continue
    yield
    unread = slice
  }
  return rows
}

const endOf = (text: string, start: number): number => {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
