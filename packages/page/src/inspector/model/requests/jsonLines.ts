import { jsonOf, wholeBefore } from '../words/shortText.ts'

/** A line of a value as indented JSON, with parts of it folded. */
export interface JsonLine {
  /** Key that is the same for the same place in the value, whatever is folded. */
  readonly key: string
  readonly level: number
  /** Name before the colon, in its quotes. */
  readonly name?: string
  readonly text: string
  /** Set on a line that begins an object or an array; `count`: number of entries. */
  readonly fold?: { readonly isOpen: boolean; readonly count: number }
  /** Length in UTF-16 units of a string that may be shown only in part. */
  readonly cutOf?: number
}

/** Depth below which parts are closed at first. */
const deepest = 40
/** Number of entries, and `mostLines` of lines before it, above which a part is closed at first. */
const mostEntries = 10_000
const mostLines = 100_000
/** Length above which strings are cut at first, in UTF-16 units. */
const mostChars = 2_000

interface Open {
  readonly key: string
  readonly entries: readonly (readonly [name: string, value: unknown])[]
  readonly isArray: boolean
  /** Index of the next entry. */
  next: number
}

/**
 * Returns the lines of a JSON value. `toggled`: keys of lines that a person has closed, opened or shown in full. At most 10,000 entries of
 * a part are shown. Pure; walks only into open parts, however deep.
 */
export function jsonLines(value: unknown, toggled: ReadonlySet<string>): JsonLine[] {
  const lines: JsonLine[] = []
  const open: Open[] = []
  const add = (key: string, name: string | undefined, item: unknown, comma: string): void => {
    const at = { key, level: open.length, ...(name === undefined ? {} : { name: jsonOf(name) }) }
    if (typeof item === 'object' && item !== null) {
      const entries = Object.entries(item)
      const isArray = Array.isArray(item)
      const [begin, end] = isArray ? '[]' : '{}'
      if (entries.length === 0) return void lines.push({ ...at, text: `${begin}${end}${comma}` })
      const isClosed = open.length > deepest || entries.length > mostEntries || lines.length > mostLines
      const isOpen = isClosed === toggled.has(key)
      const fold = { isOpen, count: entries.length }
      lines.push({ ...at, fold, text: isOpen ? begin! : `${begin} … ${end}${comma}` })
      if (isOpen) open.push({ key, entries, isArray, next: 0 })
      return
    }
    if (typeof item === 'string' && item.length > mostChars && !toggled.has(key)) {
      const text = jsonOf(wholeBefore(item, mostChars)).slice(0, -1)
      return void lines.push({ ...at, text: `${text}…`, cutOf: item.length })
    }
    lines.push({ ...at, text: `${jsonOf(item)}${comma}`, ...(isLong(item) ? { cutOf: item.length } : {}) })
  }
  add('', undefined, value, '')
  for (let part = open.at(-1); part !== undefined; part = open.at(-1)) {
    const { key, entries, isArray } = part
    const entry = entries[part.next]
    if (entry === undefined || part.next === mostEntries) {
      if (entry !== undefined)
        lines.push({ key: `${key}/…`, level: open.length, text: `… ${entries.length - part.next} more` })
      open.pop()
      const parent = open.at(-1)
      const isLast = parent === undefined || parent.next === parent.entries.length
      lines.push({ key: `${key}/.`, level: open.length, text: `${isArray ? ']' : '}'}${isLast ? '' : ','}` })
      continue
    }
    part.next += 1
    add(`${key}/${part.next}`, isArray ? undefined : entry[0], entry[1], part.next === entries.length ? '' : ',')
  }
  return lines
}

const isLong = (item: unknown): item is string => typeof item === 'string' && item.length > mostChars
