import { lazily } from '../../../protocol/lazily.ts'
import { withoutTail } from '../../names/names.ts'
import { token } from '../../tree/searchSteps.ts'

/** Characters of a text that are read; the rest says little more about its subject. */
const mostChars = 40_000
/** Words of a query that count, each once. */
const mostWords = 256
/** How soon repeating a word stops to matter, and how much the length of a text does: the usual values of BM25. */
const saturation = 1.2
const lengthWeight = 0.75

const joint = lazily(() => /[^\p{L}\p{M}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u)

/** The words of a text in lower case; a compound name such as `src/billing/unitPrice.ts` whole, and each of its parts. */
export function* wordsIn(text: string): Generator<string, void, undefined> {
  for (const [found] of text.slice(0, mostChars).matchAll(token())) {
    const name = withoutTail(found)
    yield name.toLowerCase()
    const parts = name.split(joint()).filter((part) => part.length > 1)
    if (parts.length > 1) for (const part of parts) yield part.toLowerCase()
  }
}

/**
 * How relevant each text is to a query, by the words that they share: rare words count more than common ones, and long texts no more than
 * short ones (BM25 among these texts). 0: they share none. Pure.
 */
export function relevanceOf(texts: readonly string[], query: string): readonly number[] {
  const wanted = new Set<string>()
  for (const each of wordsIn(query)) if (wanted.size < mostWords) wanted.add(each)
  const counted = texts.map((text) => countWords(text, wanted))
  const average = counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, counted.length)
  const weights = new Map<string, number>()
  for (const each of wanted) {
    const holders = counted.filter(({ counts }) => counts.has(each)).length
    if (holders > 0) weights.set(each, Math.log(1 + (counted.length - holders + 0.5) / (holders + 0.5)))
  }
  return counted.map(({ counts, length }) => {
    const norm = saturation * (1 - lengthWeight + lengthWeight * (length / average))
    let score = 0
    for (const [each, count] of counts) score += (weights.get(each)! * count * (saturation + 1)) / (count + norm)
    return score
  })
}

/** How often a text holds each of these words, and how many words it has in all. */
function countWords(text: string, wanted: ReadonlySet<string>): { counts: Map<string, number>; length: number } {
  const counts = new Map<string, number>()
  let length = 0
  for (const each of wordsIn(text)) {
    length += 1
    if (wanted.has(each)) counts.set(each, (counts.get(each) ?? 0) + 1)
  }
  return { counts, length }
}
