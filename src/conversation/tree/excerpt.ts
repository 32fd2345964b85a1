import { cutAround } from '../../protocol/text/cutMiddle.ts'
import { addHeld, holdsNothing, placeOfName, scoreOf, type Held, type Term } from './searchSteps.ts'

// A text may have a million lines, so there is no array of them here: a line is known by the offset at which it begins.

/** Generator of a result; it may be paused where it yields. */
export type Search<T> = Generator<undefined, T, void>

/** Number of characters that are read between two pauses. */
export const slice = 250_000

export interface ExcerptLimits {
  readonly lines: number
  /** Maximum number of characters. Lines longer than a third of it are cut, unless the whole text fits. */
  readonly chars: number
}

/** Position of an excerpt: offsets of a line, and of its shown part if it is too long. */
export interface Place {
  readonly line: number
  readonly hit: number
}

/** Whole lines of a text, between two offsets. */
export interface Excerpt {
  readonly text: string
  readonly start: number
  readonly lines: number
  /** True if some line is not shown in full. */
  readonly isCut: boolean
}

const newline = '\n'.charCodeAt(0)

/** Counts the lines that end between two offsets. */
export function* linesBetween(text: string, start: number, end: number): Search<number> {
  let lines = 0
  for (let from = start; from < end; from += slice) {
    if (from > start) yield
    const to = Math.min(end, from + slice)
    for (let at = from; at < to; at++) if (text.charCodeAt(at) === newline) lines += 1
  }
  return lines
}

/** Returns the offset at which a line begins, counted from 1; `undefined` if there are fewer lines. */
export function* startOfLine(text: string, line: number): Search<number | undefined> {
  let start = 0
  let unread = slice
  for (let before = 1; before < line; before++) {
    const next = text.indexOf('\n', start) + 1
    if (next === 0) return undefined
    unread -= next - start
    start = next
    if (unread > 0) continue
    yield
    unread = slice
  }
  return start
}

const endOfLine = (text: string, start: number): number => {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** Returns the lines around a position, from the offset `lowest` on, as many as fit. */
export function excerptAround(text: string, { line, hit }: Place, limits: ExcerptLimits, lowest = 0): Excerpt {
  const longest = Math.floor(limits.chars / 3)
  const isAll = text.length - lowest <= limits.chars && text.slice(lowest).split('\n').length <= limits.lines
  let isCut = false
  const shown = (start: number, end: number): string => {
    if (isAll || end - start <= longest) return text.slice(start, end)
    isCut = true
    return cutAround(text.slice(start, end), start === line ? hit - start : 0, longest)
  }
  let start = line
  let end = endOfLine(text, line)
  const texts = [shown(start, end)]
  let room = limits.chars - texts[0]!.length
  const takes = (from: number, to: number, isAfter: boolean): boolean => {
    if (texts.length >= limits.lines || Math.min(to - from, isAll ? Infinity : longest) >= room) return false
    const one = shown(from, to)
    texts.splice(isAfter ? texts.length : 0, 0, one)
    room -= one.length + 1
    return true
  }
  const takesAfter = (): boolean => {
    if (end >= text.length) return false
    const next = endOfLine(text, end + 1)
    if (!takes(end + 1, next, true)) return false
    end = next
    return true
  }
  const takesBefore = (): boolean => {
    if (start <= lowest) return false
    const last = start === 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1
    if (!takes(last, start - 1, false)) return false
    start = last
    return true
  }
  // The lines after a line mostly tell more than those before it.
  let isGrowing = true
  while (isGrowing) {
    isGrowing = takesAfter()
    isGrowing = takesBefore() || isGrowing
    isGrowing = takesAfter() || isGrowing
  }
  return { text: texts.join('\n'), start, lines: texts.length, isCut }
}

/** Approximate length of text that is searched before its lines are. */
const chunk = 65_536

/** Returns the line, from the offset `lowest` on, that contains most of the terms; the first of equals; `undefined` if none contains any. */
export function* bestLine(
  text: string,
  terms: readonly Term[],
  weights: readonly number[],
  lowest = 0,
): Search<Place | undefined> {
  let best: Place | undefined
  let highest = 0
  let unread = slice
  for (let start = lowest; start <= text.length;) {
    const end = endOfLine(text, Math.min(text.length, start + chunk))
    const part = text.slice(start, end)
    // No line holds more than all of them together.
    const most = scoreOf(heldIn(part, terms), weights)
    let line = start
    for (const one of most > highest ? part.split('\n') : []) {
      const held = heldIn(one, terms)
      const score = scoreOf(held, weights)
      if (held.terms.size > 0 && score > highest) {
        best = { line, hit: line + hitIn(one, terms, held) }
        highest = score
        if (highest === most) break
      }
      line += one.length + 1
    }
    unread -= part.length
    start = end + 1
    if (unread > 0) continue
    yield
    unread = slice
  }
  return best
}

function heldIn(text: string, terms: readonly Term[]): Held {
  const held = holdsNothing()
  addHeld(held, text, terms)
  return held
}

/** Returns the position of the first term in the text. */
function hitIn(text: string, terms: readonly Term[], held: Held): number {
  const [name] = held.names
  if (name !== undefined) return placeOfName(text, terms[name]!.text)
  const [word] = held.terms
  // In lower case a text may be longer, which would move the place.
  return text.search(new RegExp(terms[word!]!.text.replaceAll('.', String.raw`\.`), 'iu'))
}
