import { harmless } from './harmless.ts'
import { fitted } from './textWidth.ts'

/** A text as lines that begin with `indent`, without its control characters. */
export const indented = (text: string, indent: string): string[] =>
  harmless(text)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${indent}${line}`.trimEnd())

export interface ShortOptions {
  readonly indent: string
  readonly columns: number
  readonly maxLines: number
}

/** As `indented`, with long lines cut and, where it has many, the middle left out. */
export function shortened(text: string, { indent, columns, maxLines }: ShortOptions): string[] {
  const lines = indented(text, indent).map((line) => fitted(line, columns))
  const left = lines.length - maxLines
  if (left <= 1) return lines
  const head = Math.ceil(maxLines / 2)
  return [...lines.slice(0, head), `${indent}… ${left} more lines …`, ...lines.slice(head + left)]
}

/** A text on one line. */
export const oneLine = (text: string): string => harmless(text).replace(/\s+/g, ' ').trim()
