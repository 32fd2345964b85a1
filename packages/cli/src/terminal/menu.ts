import { oneLine } from '../../../charts/src/plainText.ts'
import { fitted, textWidth } from '../../../charts/src/textWidth.ts'
import type { Key } from './input/keys.ts'

/** An answer to a question, as a menu item. */
export interface MenuItem {
  /** Text that a person can type instead of choosing the answer. */
  readonly typed: string
  readonly label: string
  /** True if the answer needs more words: choosing it puts `typed` at the beginning of the line. */
  readonly isBegun?: boolean
}

/** Effect of a key on a menu; `undefined` if the key is for the line. */
export type MenuStep =
  | { readonly type: 'moved'; readonly chosen: number }
  | { readonly type: 'taken'; readonly item: MenuItem }

const moves: Readonly<Record<string, 1 | -1>> = { up: -1, 'ctrl+p': -1, 'shift+tab': -1, down: 1, 'ctrl+n': 1, tab: 1 }

/**
 * Applies a key to the answers below a line that contains `typed`. No answer is chosen until an arrow is pressed, so that an Enter meant for text
 * typed before the question came decides nothing. Pastes, and keys while the line has text, decide nothing either. Pure.
 */
export function stepMenu(
  chosen: number | undefined,
  key: Key,
  typed: string,
  items: readonly MenuItem[],
): MenuStep | undefined {
  if (key.type !== 'key' || typed !== '' || items.length === 0) return undefined
  const step = moves[key.name]
  if (step !== undefined) {
    const from = chosen ?? (step === 1 ? -1 : items.length)
    return { type: 'moved', chosen: (from + step + items.length) % items.length }
  }
  if (key.name !== 'enter' || chosen === undefined) return undefined
  return { type: 'taken', item: items[chosen]! }
}

export interface MenuRow {
  readonly text: string
  readonly isChosen: boolean
}

/** Lays out the answers as terminal rows, as many as fit around the chosen one. Pure. */
export function menuRows(
  items: readonly MenuItem[],
  chosen: number | undefined,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): MenuRow[] {
  const most = Math.max(0, Math.min(items.length, rows))
  const start = Math.min(Math.max(0, (chosen ?? 0) - Math.floor(most / 2)), items.length - most)
  const keys = items.map(({ typed, isBegun = false }) => `${oneLine(typed)}${isBegun ? ' …' : ''}`)
  const width = Math.min(12, Math.max(0, ...keys.map(textWidth)))
  return items.slice(start, start + most).map(({ label }, row) => {
    const isChosen = start + row === chosen
    const key = fitted(keys[start + row]!, Math.max(1, width))
    const space = ' '.repeat(Math.max(0, width - textWidth(key)))
    const text = `  ${isChosen ? '›' : ' '} ${key}${space}  ${oneLine(label)}`
    return { text: fitted(text.trimEnd(), Math.max(1, columns)), isChosen }
  })
}
