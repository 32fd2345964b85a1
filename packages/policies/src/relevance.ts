import { lazily } from '../../../src/protocol/lazily.ts'
import { withoutTail } from '../../../src/conversation/names/names.ts'
import { token } from '../../../src/conversation/tree/searchSteps.ts'

/** Maximum characters read of a text. The rest adds little about its subject. */
const mostChars = 40_000
/** Maximum number of distinct words of a query. */
const mostWords = 256
/** Parameters of BM25 with their usual values: saturation of repeated words, and weight of the text length. */
const saturation = 1.2
const lengthWeight = 0.75

const joint = lazily(() => /[^\p{L}\p{M}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u)

/** Returns the words of a text in lower case. A compound name such as `src/billing/unitPrice.ts` counts whole and in parts. */
export function* wordsIn(text: string): Generator<string, void, undefined> {
  for (const [found] of text.slice(0, mostChars).matchAll(token())) {
    const name = withoutTail(found)
    yield name.toLowerCase()
    const parts = name.split(joint()).filter((part) => part.length > 1)
    if (parts.length > 1) for (const part of parts) yield part.toLowerCase()
  }
}

/**
 * Scores the relevance of each text to a query by shared words (BM25 among these texts). Rare words count more than common ones, and long texts no
 * more than short ones. 0 means no shared words. Pure.
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

/** Counts the occurrences of each wanted word in a text, and all of the text's words. */
function countWords(text: string, wanted: ReadonlySet<string>): { counts: Map<string, number>; length: number } {
  const counts = new Map<string, number>()
  let length = 0
  for (const each of wordsIn(text)) {
    length += 1
    if (wanted.has(each)) counts.set(each, (counts.get(each) ?? 0) + 1)
  }
  return { counts, length }
}
