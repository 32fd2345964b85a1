import { isObject } from '../../../../src/protocol/checks/isObject.ts'
import { visible } from './visible.ts'

/** Maximum length of a value on the line of its name, in UTF-16 units. Longer values have separate lines. */
const longestInline = 200
/** Maximum length of a value that comes first, in UTF-16 units. Long values would hide the short ones. */
const longestShort = 60

/** Prefix of the lines of a long value, so that none of them looks like something else. */
const mark = '│ '

/**
 * Returns all arguments of a call as rows for people who decide about it, the short ones first, each with its name. Lines of a long value begin with
 * `│ `. Empty lines are left out and counted. Two different inputs never look the same (see `visible`). Rows have no line break. Pure.
 */
export function callInFull(input: unknown): readonly string[] {
  if (input === undefined) return ['(no arguments)']
  if (!isObject(input) || Array.isArray(input) || Object.keys(input).length === 0) return rowsOf('', input)
  const fields = Object.entries(input).map(([key, value]) => rowsOf(`${nameOf(key)}: `, value))
  return fields.toSorted((one, other) => rankOf(one) - rankOf(other)).flat()
}

const rankOf = (rows: readonly string[]): number => (rows.length > 1 ? 2 : rows[0]!.length > longestShort ? 1 : 0)

const nameOf = (key: string): string => (/^[A-Za-z_$][\w$-]*$/.test(key) ? key : jsonOf(key))

const jsonOf = (value: unknown): string => visible(JSON.stringify(value) ?? String(value))

function rowsOf(name: string, value: unknown): readonly string[] {
  if (typeof value === 'string' && (value.includes('\n') || value.length > longestInline)) {
    const lines = value.split('\n')
    return [`${name}text of ${counted(lines.length, 'line')}, ${counted(value.length, 'character')}`, ...marked(lines)]
  }
  const json = jsonOf(value)
  if (!isObject(value) || json.length <= longestInline) return [`${name}${json}`]
  const lines = JSON.stringify(value, undefined, 2).split('\n')
  return [`${name}JSON of ${counted(lines.length, 'line')}`, ...marked(lines)]
}

function marked(lines: readonly string[]): string[] {
  const rows: string[] = []
  for (let at = 0; at < lines.length;) {
    let end = at
    while (end < lines.length && lines[end] === '') end += 1
    if (end - at > 2) {
      rows.push(`${mark}⟨${end - at} empty lines⟩`)
      at = end
    } else rows.push(`${mark}${visible(lines[at++]!)}`.trimEnd())
  }
  return rows
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/**
 * Returns the rows of `callInFull` as one text, for protocols whose clients show texts. Each row is a line that
 * begins with `> `, so that it cannot look like other text. Short and plain arguments are shown as JSON.
 */
export function callAsText(input: unknown): string {
  const json = JSON.stringify(input) ?? ''
  if (json !== '' && json.length <= longestInline && json === visible(json)) return ` ${json}`
  return callInFull(input)
    .map((row) => `\n> ${row}`)
    .join('')
}
