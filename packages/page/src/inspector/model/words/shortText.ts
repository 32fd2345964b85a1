import { cutEnd } from '../../../../../../src/protocol/text/cutMiddle.ts'
import { withoutReordering } from '../../../../../../src/protocol/text/withoutReordering.ts'

/** Returns a text as it may stand on the page: whole characters, in the order they come in. */
export const forDisplay = (text: string): string => withoutReordering(text.toWellFormed())

/** Fits a text into one line of at most `most` characters; a cut is marked by "…". Pure; looks at no more than it needs. */
export const oneLine = (text: string, most = 160): string =>
  cutEnd(
    forDisplay(cutEnd(text, most * 4))
      .replace(/\s+/g, ' ')
      .trim(),
    most,
  ).replace(/ …$/, '…')

/** Returns the beginning of a text, at most `end` UTF-16 units, without half a surrogate pair at its end. */
export const wholeBefore = (text: string, end: number): string => text.slice(0, end).replace(/[\uD800-\uDBFF]$/, '')

/** Returns the beginning of a text: at most `lines` lines and `chars` characters. */
export function beginning(text: string, { lines, chars }: { lines: number; chars: number }): string {
  let end = -1
  for (let line = 0; line < lines; line++) {
    const next = text.indexOf('\n', end + 1)
    if (next < 0 || next > chars) return wholeBefore(text, chars)
    end = next
  }
  return text.slice(0, end)
}

/** Least number of lines or characters that a cut must save, as the button takes a line too. */
const leastCut = { lines: 6, chars: 500 }

/** As `beginning`, but returns the whole text if only a little would be left out. */
export function beginningWorthCutting(text: string, limits: { lines: number; chars: number }): string {
  const first = beginning(text, limits)
  const rest = text.length - first.length
  if (rest === 0 || rest > leastCut.chars) return first
  return text.slice(first.length).trimEnd().split('\n').length > leastCut.lines ? first : text
}

/** Writes the arguments of a call on one line: `path: "a.ts", line: 3`. Anything but an object is written as JSON. */
export function argumentsLine(input: unknown, most = 120): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return oneLine(jsonOf(input), most)
  const parts: string[] = []
  let length = 0
  for (const [name, value] of Object.entries(input)) {
    // A long string is cut before it is made JSON.
    const part = `${name}: ${oneLine(jsonOf(typeof value === 'string' ? wholeBefore(value, most) : value), most)}`
    parts.push(part)
    length += part.length
    if (length > most) break
  }
  return oneLine(parts.join(', '), most)
}

/** Returns the JSON of a value, or the text of a value without JSON. */
export const jsonOf = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent) ?? String(value)
