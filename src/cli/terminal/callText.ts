import { withoutControls } from '../../charts/plainText.ts'
import { besideEdit, editOf } from '../../text/edits.ts'
import type { Colours } from './colours.ts'
import { diffCounts, diffRows } from './diffRows.ts'

/** Lines of a change that are shown before a person decides; the rest at their wish. */
const mostShown = 40

/** A call that waits for a person. */
export interface CallText {
  readonly head: string
  /** Of an edit, its beginning. */
  readonly rows: readonly string[]
  /** Of an edit whose `rows` are cut: all of it. */
  readonly rest: readonly string[]
}

/** The full input of a call; a command's as one would type it. */
function inputText(input: unknown): string {
  const { command, ...rest } = (typeof input === 'object' && input !== null ? input : {}) as { command?: unknown }
  if (typeof command !== 'string') return JSON.stringify(input) ?? ''
  return Object.keys(rest).length === 0 ? command : `${command} ${JSON.stringify(rest)}`
}

/** All that a call is given, as rows of a terminal: an edit as what it changes. Nothing is left out but what `rest` has. Pure. */
export function callText(name: string, input: unknown, colours: Colours): CallText {
  const edit = editOf(name, input)
  if (edit === undefined) return { head: `  ? ${withoutControls(`${name}: ${inputText(input)}`)}`, rows: [], rest: [] }
  const { path, type, diff } = edit
  const beside = besideEdit(name, input)
  const more = Object.keys(beside).length === 0 ? '' : ` ${JSON.stringify(beside)}`
  // A path with a line break could show lines of its own.
  const place = withoutControls(`${path}${more}`).replaceAll('\n', '\\n')
  const counts = type === 'write' ? `the whole file, ${diffCounts(diff)}` : diffCounts(diff)
  const rowsOf = (most: number): string[] => diffRows(diff, { colours, indent: '    ', most })
  const whole = rowsOf(Number.POSITIVE_INFINITY)
  const isCut = whole.length > mostShown + 1
  return {
    head: `  ? ${withoutControls(name)}: ${place} ${colours.dim(`· ${counts}`)}`,
    rows: isCut ? rowsOf(mostShown) : whole.length === 0 ? ['    (no line is different)'] : whole,
    rest: isCut ? whole : [],
  }
}
