import { cutMiddle } from '../../protocol/text/cutMiddle.ts'

/** Longest output of a call without a result that its model is shown, in UTF-16 units. */
const mostChars = 4_000

/** Returns the output of a call that came to no result, as it follows the explanation of that. Pure. */
export const printedSoFar = (text: string): string =>
  text.trim() === '' ? '' : `\n\nIt had printed:\n${cutMiddle(text.trimEnd(), mostChars)}`
