import { lazily } from '../../../../src/protocol/lazily.ts'
import { foldText } from '../../../../src/protocol/text/foldText.ts'

const segmenter = lazily(() => new Intl.Segmenter('und', { granularity: 'word' }))

const inside = /[^\p{L}\p{N}\p{M}]+/u

/** Maximum number of characters of a text that are read. */
const mostChars = 20_000

/**
 * Returns the words of a text for comparison: in lower case, without accents, in any script; for a name such as
 * `read_file` its parts too. They contain no other characters, so no search engine finds an operator in them.
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

/** Maximum number of different words of a query that count. */
const mostWords = 64

/** Returns the different words of a query. */
export const queryWords = (query: string): string[] => [...new Set(wordsOf(query))].slice(0, mostWords)
