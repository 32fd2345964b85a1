import { lazily } from '../lazily.ts'

/** Pattern of texts whose characters always stand alone: Latin letters, typographic quotes and dashes. */
const simple = /^[\n\u0020-\u007E\u00A0-\u02FF\u2010-\u2027]*$/
const segmenter = lazily(() => new Intl.Segmenter())

/** Returns the characters of a text as people count them. Most texts need no segmenter, which takes milliseconds to create. Pure. */
export const charactersOf = (text: string): Iterable<string> => (simple.test(text) ? text : segments(text))

function* segments(text: string): Generator<string> {
  for (const { segment } of segmenter().segment(text)) yield segment
}
