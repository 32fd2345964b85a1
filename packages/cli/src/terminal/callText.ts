import { chunked } from '../../../charts/src/textWidth.ts'
import { callInFull } from '../../../charts/src/text/callInFull.ts'
import { visible } from '../../../charts/src/text/visible.ts'
import { besideEdit, editOf, hidesNothing, type FileEdit } from '../../../charts/src/text/edits.ts'
import type { Colours } from './colours.ts'
import { diffCounts, diffRows } from './diffRows.ts'

/** Maximum number of rows of a call shown at once. The rest is shown before the call can be allowed. */
const mostShown = 40
const indent = '    '

/** Text of a call that waits for a person. */
export interface CallText {
  readonly head: string
  /** Rows of the call that do not fit in the head, or the first of them. */
  readonly rows: readonly string[]
  /** All rows, if `rows` are cut. */
  readonly rest: readonly string[]
}

export interface CallTextOptions {
  readonly colours: Colours
  /** Columns of the terminal. Default: 80. */
  readonly columns?: number | undefined
}

/** Returns the input of a call in one row. A single command or path is shown as typed if it contains no "{". */
function inOneRow(input: unknown): string {
  const { command, ...rest } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  const others = Object.keys(rest)
  const typed = command ?? (others.length === 1 ? rest['path'] : undefined)
  if (typeof typed !== 'string' || typed === '' || typed.includes('{')) return JSON.stringify(input) ?? ''
  return command === undefined || others.length === 0 ? typed : `${typed} ${JSON.stringify(rest)}`
}

/**
 * Returns the whole input of a call as terminal rows: an edit as its changes, anything else as one row if it fits, or else as from `callInFull`.
 * Every row is marked as part of the call. Only the rows in `rest` are left out. Pure.
 */
export function callText(name: string, input: unknown, { colours, columns = 80 }: CallTextOptions): CallText {
  const edit = editOf(name, input, Infinity)
  if (edit !== undefined && hidesNothing(name, input, edit)) return editText(name, input, edit, { colours, columns })
  const asked = `  ? ${visible(name)}:`
  const text = inOneRow(input)
  const head = `${asked} ${visible(text)}`
  // With room for the words after it.
  if (!text.includes('\n') && chunked(head, columns - 1).length === 1) return { head, rows: [], rest: [] }
  return cut(
    asked,
    callInFull(input).flatMap((row) => wrapped(row, columns)),
  )
}

/** Splits a line wider than the terminal into rows marked as continuations, since an unmarked row would look like a new one. */
const wrapped = (row: string, columns: number): string[] =>
  atWords(row, columns - indent.length - 3).map((part, index) => `${indent}${index === 0 ? '' : '╎ '}${part}`)

/** Splits a text into parts of at most `columns` columns, after a blank if the second half of a part has one. No text is lost. */
function atWords(text: string, columns: number): string[] {
  const parts: string[] = []
  let begun = ''
  for (const part of chunked(text, Math.floor(columns / 2))) {
    const [whole = '', ...more] = chunked(begun + part, columns)
    if (more.length === 0) begun = whole
    else {
      const blank = whole.lastIndexOf(' ') + 1
      const end = blank > whole.length / 2 ? blank : whole.length
      parts.push(whole.slice(0, end))
      begun = whole.slice(end) + more.join('')
    }
  }
  return [...parts, begun]
}

function editText(
  name: string,
  input: unknown,
  { path, type, diff, endings }: FileEdit,
  { colours, columns }: { readonly colours: Colours; readonly columns: number },
): CallText {
  const beside = besideEdit(name, input)
  const more = Object.keys(beside).length === 0 ? '' : ` ${JSON.stringify(beside)}`
  // A path with a line break could show lines of its own.
  const place = visible(`${path}${more}`.replaceAll('\n', '\\n'))
  const counts = type === 'write' ? `the whole file, ${diffCounts(diff)}` : diffCounts(diff)
  const rows = diffRows(diff, { colours, indent, most: Infinity, wrapAt: columns - 1 })
  const notes = endings.map((ending) => colours.dim(`${indent}(${ending})`))
  return cut(
    `  ? ${visible(name)}: ${place} ${colours.dim(`· ${counts}`)}`,
    rows.length === 0 ? [`${indent}(no line is different)`, ...notes] : [...rows, ...notes],
  )
}

function cut(head: string, rows: readonly string[]): CallText {
  if (rows.length <= mostShown + 1) return { head, rows, rest: [] }
  return { head, rows: [...rows.slice(0, mostShown), `${indent}… ${rows.length - mostShown} more lines`], rest: rows }
}
