import { oneLine, withoutControls } from '../../../../charts/src/plainText.ts'
import { fitted, textWidth } from '../../../../charts/src/textWidth.ts'
import type { Key } from './keys.ts'

/** An item to choose from. */
export interface PickerItem {
  readonly label: string
  /** Sign before the label, one column wide. */
  readonly sign?: string
  /** Colour of the line unless it is chosen. Default: faint. */
  readonly tone?: 'yellow' | 'red' | 'plain'
  /** Further words to the right of the label, each in its own column. */
  readonly details?: readonly string[]
}

/** State of a picker: the typed filter, and the chosen one of the matching items. */
export interface PickerState {
  readonly query: string
  readonly chosen: number
}

/** Result of a key: the new state, the index of the chosen item as `picked`, or a cancellation. */
export type PickerStep = PickerState | { readonly picked: number } | 'cancelled'

/** Initial state of a picker. */
export const emptyPicker: PickerState = { query: '', chosen: 0 }

/** Returns the indexes of the items that contain every word of the query, ignoring case. Pure. */
export function fittingItems(items: readonly PickerItem[], query: string): number[] {
  const words = query.toLowerCase().split(/\s+/)
  return items.flatMap(({ label, details = [] }, index) => {
    const text = [label, ...details].join(' ').toLowerCase()
    return words.every((word) => text.includes(word)) ? [index] : []
  })
}

/** Applies a key to a picker. Pure. */
export function stepPicker(state: PickerState, key: Key, items: readonly PickerItem[]): PickerStep {
  const { query, chosen } = state
  if (key.type !== 'key') return { query: query + withoutControls(key.text).replace(/\s+/g, ' '), chosen: 0 }
  const fitting = fittingItems(items, query)
  const count = Math.max(1, fitting.length)
  const at = Math.min(chosen, count - 1)
  switch (key.name) {
    case 'up':
    case 'ctrl+p':
    case 'shift+tab':
      return { query, chosen: (at + count - 1) % count }
    case 'down':
    case 'ctrl+n':
    case 'tab':
      return { query, chosen: (at + 1) % count }
    case 'pageUp':
      return { query, chosen: Math.max(0, at - 10) }
    case 'pageDown':
      return { query, chosen: Math.min(count - 1, at + 10) }
    case 'home':
      return { query, chosen: 0 }
    case 'end':
      return { query, chosen: count - 1 }
    case 'backspace':
      return { query: [...query].slice(0, -1).join(''), chosen: 0 }
    case 'ctrl+u':
      return emptyPicker
    case 'enter': {
      const picked = fitting[at]
      return picked === undefined ? state : { picked }
    }
    case 'escape':
    case 'ctrl+c':
    case 'ctrl+d':
      return 'cancelled'
    default:
      return state
  }
}

export interface PickerRows {
  readonly title: string
  /** Column of the cursor, which is after the typed text. */
  readonly cursorColumn: number
  readonly items: readonly (Pick<PickerItem, 'tone'> & { readonly text: string; readonly isChosen: boolean })[]
}

export interface PickerSize {
  readonly columns: number
  readonly rows: number
}

/** Lays out the list as terminal rows: the title with the typed filter, and the items around the chosen one. Pure. */
export function pickerRows(
  title: string,
  items: readonly PickerItem[],
  { query, chosen }: PickerState,
  { columns, rows }: PickerSize,
): PickerRows {
  const fitting = fittingItems(items, query)
  const head = fitted(`${title} ${withoutControls(query)}`, Math.max(1, columns))
  const most = Math.max(1, rows - 1)
  const at = Math.min(chosen, Math.max(0, fitting.length - 1))
  const start = Math.min(Math.max(0, at - Math.floor(most / 2)), Math.max(0, fitting.length - most))
  const shown = fitting.slice(start, start + most)
  const detailWidths: number[] = []
  for (const index of shown)
    for (const [i, detail] of (items[index]!.details ?? []).entries())
      detailWidths[i] = Math.max(detailWidths[i] ?? 0, textWidth(oneLine(detail)))
  const detailsWidth = detailWidths.reduce((sum, width) => sum + width + 2, 0)
  // A narrow terminal has the labels alone.
  const hasDetails = columns - detailsWidth >= 24
  const hasSigns = shown.some((index) => items[index]!.sign !== undefined)
  const labelWidth = Math.min(
    columns - (hasSigns ? 4 : 2) - (hasDetails ? detailsWidth : 0),
    Math.max(1, ...shown.map((index) => textWidth(oneLine(items[index]!.label)))),
  )
  const list = shown.map((index, row) => {
    const { label, details = [], sign, tone } = items[index]!
    const isChosen = start + row === at
    const name = fitted(oneLine(label), Math.max(1, labelWidth))
    const beside = hasDetails ? details.map((detail, i) => `  ${padded(oneLine(detail), detailWidths[i]!)}`) : []
    const text = `${isChosen ? '› ' : '  '}${hasSigns ? `${sign ?? ' '} ` : ''}${beside.length === 0 ? name : padded(name, labelWidth)}${beside.join('')}`
    const drawn = { text: fitted(text.trimEnd(), Math.max(1, columns)), isChosen }
    return tone === undefined ? drawn : { ...drawn, tone }
  })
  const none = { text: fitted('  no match', Math.max(1, columns)), isChosen: false }
  return { title: head, cursorColumn: textWidth(head), items: list.length === 0 ? [none] : list }
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)))
