import { fitted } from './textWidth.ts'
import { withoutReordering } from '../../../src/protocol/text/withoutReordering.ts'

/**
 * Removes control characters, which could move the cursor or worse, and characters that reorder letters, which could
 * show another command than the one to approve. Keeps line breaks. Lone halves of characters become U+FFFD.
 */
export const withoutControls = (text: string): string =>
  withoutReordering(text.toWellFormed())
    .replace(/\t/g, '    ')
    // oxlint-disable-next-line no-control-regex -- these are what is to go
    .replace(/\u001B\[[\d;?]*[A-Za-z]|[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, '')

/** Splits a text into lines that begin with `indent`, without its control characters. */
export const indented = (text: string, indent: string): string[] =>
  withoutControls(text)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${indent}${line}`.trimEnd())

export interface ShortOptions {
  readonly indent: string
  readonly columns: number
  readonly maxLines: number
}

/** As `indented`, but cuts long lines and leaves out the middle of many lines. */
export function shortened(text: string, { indent, columns, maxLines }: ShortOptions): string[] {
  const lines = indented(text, indent).map((line) => fitted(line, columns))
  return withoutMiddle(lines, indent, maxLines)
}

/** Returns the lines, without those in the middle if there are many. Pure. */
export function withoutMiddle(lines: readonly string[], indent: string, maxLines: number): string[] {
  const left = lines.length - maxLines
  if (left <= 1) return [...lines]
  const head = Math.ceil(maxLines / 2)
  return [...lines.slice(0, head), `${indent}… ${left} more lines …`, ...lines.slice(head + left)]
}

/** Returns a text on one line, without its control characters. */
export const oneLine = (text: string): string => withoutControls(text).replace(/\s+/g, ' ').trim()
