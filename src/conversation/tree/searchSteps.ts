import type { NodeId } from '../../protocol/ids.ts'
import { lazily } from '../../protocol/lazily.ts'
import { withoutEnd } from '../../protocol/text/textEnds.ts'

/** A word or name to look for. */
export interface Term {
  readonly text: string
  readonly lower: string
  /** True for a path, a compound name or a number, which has only one spelling. */
  readonly isName: boolean
}

/** Maximum number of terms in a query. */
const mostTerms = 32

/**
 * Returns the pattern of a word or a compound name, including dots, slashes and dashes at its end. It is built on first use, because collecting all
 * letters takes a while.
 */
export const token = lazily(() => /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./-]*/gu)
const nameLike = lazily(() => /\p{Ll}\p{Lu}|[_./]|\p{L}\p{N}|\p{N}\p{L}|\p{Lu}{3}|\p{N}{3}/u)
const wordSign = lazily(() => /[\p{L}\p{M}\p{N}_]/u)

/** Returns the words and names of a query, each once, names first; none if it has only other characters. */
export function termsOf(query: string): readonly Term[] {
  const texts = new Set(Array.from(query.matchAll(token()), ([found]) => withoutEnd(found, './-')))
  const terms = Array.from(texts, (text): Term => ({ text, lower: text.toLowerCase(), isName: nameLike().test(text) }))
  return terms.toSorted((a, b) => Number(b.isName) - Number(a.isName)).slice(0, mostTerms)
}

/** The terms that a text contains. */
export interface Held {
  /** Indices of the contained terms, ignoring case and also within longer words. */
  readonly terms: Set<number>
  /** Indices of the names that occur exactly and not within longer ones. */
  readonly names: Set<number>
}

export const holdsNothing = (): Held => ({ terms: new Set(), names: new Set() })

/** Adds the terms that a text contains to earlier ones. */
export function addHeld(held: Held, text: string, terms: readonly Term[]): void {
  let lower: string | undefined
  terms.forEach((term, place) => {
    if (term.isName && !held.names.has(place) && placeOfName(text, term.text) >= 0) {
      held.names.add(place)
      held.terms.add(place)
    }
    if (held.terms.has(place)) return
    lower ??= text.toLowerCase()
    if (lower.includes(term.lower)) held.terms.add(place)
  })
}

/** Returns the position of a name that is not part of a longer one; −1 if there is none. */
export function placeOfName(text: string, name: string): number {
  let at = text.indexOf(name)
  while (at >= 0 && !(isEdge(text[at - 1]) && isEdge(text[at + name.length]))) at = text.indexOf(name, at + 1)
  return at
}

const isEdge = (sign: string | undefined): boolean => sign === undefined || !wordSign().test(sign)

export interface Found {
  readonly stepId: NodeId
  readonly held: Held
}

/** Returns the weight of each term. A rare term counts more than a common one. `steps`: number of searched steps. */
export function weightsOf(terms: readonly Term[], found: readonly Found[], steps: number): readonly number[] {
  return terms.map((_, place) => {
    const holders = found.filter(({ held }) => held.terms.has(place)).length
    return holders === 0 ? 0 : Math.log((steps + 1) / holders)
  })
}

/** Scores the contained terms. Any name counts more than all words together. */
export function scoreOf({ terms, names }: Held, weights: readonly number[]): number {
  const all = weights.reduce((sum, weight) => sum + weight, 1)
  let score = names.size * all
  for (const place of terms) score += weights[place]!
  return score
}

/** Compares matches: best first, then newest first. */
export function ranked(found: readonly Found[], weights: readonly number[]): readonly Found[] {
  const scores = new Map(found.map((each) => [each, scoreOf(each.held, weights)]))
  return found.toSorted((a, b) => scores.get(b)! - scores.get(a)! || b.stepId - a.stepId)
}
