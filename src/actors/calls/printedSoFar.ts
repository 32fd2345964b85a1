import type { Redactor } from '../../protocol/ports/redactor.ts'
import { cutMiddle } from '../../protocol/text/cutMiddle.ts'

/** Longest output of a call without a result that its model is shown, in UTF-16 units. */
const mostChars = 4_000

/** Returns the output of a call that came to no result, without secrets, as it follows the explanation of that. Pure. */
export function printedSoFar(text: string, redactor: Redactor | undefined): string {
  // Before it is cut: half of a secret would not be recognised.
  const clean = redactor?.text(text) ?? text
  return clean.trim() === '' ? '' : `\n\nIt had printed:\n${cutMiddle(clean.trimEnd(), mostChars)}`
}
