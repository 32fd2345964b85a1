import { lazily } from '../../../../src/protocol/lazily.ts'
import { foldText } from '../../../../src/protocol/text/foldText.ts'

const segmenter = lazily(() => new Intl.Segmenter('und', { granularity: 'word' }))

const inside = /[^\p{L}\p{N}\p{M}]+/u

/** How many characters of a text are looked at. */
const mostChars = 20_000

/**
 * The words of a text as they are compared: in lower case, without accents, in any script; for a name such as `read_file` its parts too.
 * They contain nothing else, so no search engine finds an operator there.
 */
export function wordsOf(text: string): string[] {
  const plain = foldText(text.slice(0, mostChars))
  const words: string[] = []
  for (const { segment, isWordLike } of segmenter().segment(plain)) {
    if (isWordLike !== true) continue
    const parts = segment.split(inside).filter((part) => part !== '')
    if (parts.length > 1) words.push(parts.join(''))
    words.push(...parts)
  }
  return words
}

/** How many different words of a query count. */
const mostWords = 64

/** The different words of a query. */
export const queryWords = (query: string): string[] => [...new Set(wordsOf(query))].slice(0, mostWords)
