import { cutAround } from './cutMiddle.ts'
import { addHeld, holdsNothing, placeOfName, scoreOf, type Held, type Term } from './searchSteps.ts'

export interface ExcerptLimits {
  readonly lines: number
  /** Longer lines are cut once they are more than a third of it. */
  readonly chars: number
}

/** Lines of a text, from `first` to before `end`, counted from 0. */
export interface Excerpt {
  readonly text: string
  readonly first: number
  readonly end: number
  /** Some line is not shown in full. */
  readonly isCut: boolean
}

/** The lines around one of them, as many as fit; `hit` is the place in that line which is shown if the line is too long. */
export function excerptAround(
  lines: readonly string[],
  { line, hit }: { readonly line: number; readonly hit: number },
  limits: ExcerptLimits,
): Excerpt {
  const longest = Math.floor(limits.chars / 3)
  const shown = (at: number): string => {
    const text = lines[at]!
    return isWhole ? text : cutAround(text, at === line ? hit : 0, longest)
  }
  const isWhole = lines.length <= limits.lines && lines.reduce((sum, { length }) => sum + length + 1, 0) <= limits.chars
  let first = line
  let end = line + 1
  let room = limits.chars - shown(line).length
  const takes = (at: number): boolean => {
    if (at < 0 || at >= lines.length || end - first >= limits.lines) return false
    const chars = shown(at).length + 1
    if (chars > room) return false
    room -= chars
    return true
  }
  let isGrowing = true
  while (isGrowing) {
    isGrowing = false
    // What follows a line mostly tells more than what stands before it.
    for (const isAfter of [true, false, true]) {
      if (!takes(isAfter ? end : first - 1)) continue
      isGrowing = true
      if (isAfter) end += 1
      else first -= 1
    }
  }
  const texts: string[] = []
  for (let at = first; at < end; at++) texts.push(shown(at))
  const isCut = !isWhole && lines.slice(first, end).some(({ length }) => length > longest)
  return { text: texts.join('\n'), first, end, isCut }
}

/** How many characters are read between two pauses. */
const slice = 250_000

/** The line that holds most of the terms, the first of equals; `undefined` when none holds any. Yields where it may be paused. */
export function* bestLine(
  lines: readonly string[],
  terms: readonly Term[],
  weights: readonly number[],
): Generator<undefined, { readonly line: number; readonly hit: number } | undefined, void> {
  let best: { line: number; hit: number } | undefined
  let highest = 0
  let unread = slice
  for (const [line, text] of lines.entries()) {
    if ((unread -= text.length + 1) < 0) {
      yield
      unread = slice
    }
    const held = holdsNothing()
    addHeld(held, text, terms)
    if (held.terms.size === 0) continue
    const score = scoreOf(held, weights)
    if (best !== undefined && score <= highest) continue
    best = { line, hit: hitIn(text, terms, held) }
    highest = score
  }
  return best
}

/** Where the first of the terms stands that the text holds. */
function hitIn(text: string, terms: readonly Term[], held: Held): number {
  const [name] = held.names
  if (name !== undefined) return placeOfName(text, terms[name]!.text)
  const [word] = held.terms
  // In lower case a text may be longer, which would move the place.
  return text.search(new RegExp(terms[word!]!.text.replaceAll('.', String.raw`\.`), 'iu'))
}
