import { lazily } from '../lazily.ts'

/** Each of these is a character of its own: letters of Latin scripts, typographic quotes and dashes. */
const simple = /^[\n\u0020-\u007E\u00A0-\u02FF\u2010-\u2027]*$/
const segmenter = lazily(() => new Intl.Segmenter())

/** The characters of a text as people count them. Most texts need no segmenter, which takes milliseconds to make. Pure. */
export const charactersOf = (text: string): Iterable<string> => (simple.test(text) ? text : segments(text))

function* segments(text: string): Generator<string> {
  for (const { segment } of segmenter().segment(text)) yield segment
}
