import type { QuestionField } from '../../../../bridge/src/client/questionForm.ts'
import type { Colours } from '../colours.ts'
import { formRows, formState, stepForm, textsOf, type FieldTexts, type FormAnswer, type FormPart } from './form.ts'
import type { DrawnInput } from './inputLine.ts'
import type { Key } from './keys.ts'
import { emptyPicker, pickerRows, stepPicker, type PickerItem } from './picker.ts'

/** Size in which a panel is drawn. */
export interface PanelSize {
  readonly columns: number
  readonly rows: number
}

/** Component in place of the input line that takes its keys. */
export interface Panel {
  /** Applies a key. Returns false if it is for the line. */
  take(key: Key): boolean
  draw(size: PanelSize): DrawnInput
  /** Ends it without a result. */
  end(): void
}

/** Creates a panel that calls `end` once, with its result. */
export type PanelMaker<T> = (end: (result: T | undefined) => void, colours: Colours) => Panel

/** Returns the maker of a list to choose from. Its result is the index of an item. */
export const pickerPanel =
  (title: string, items: readonly PickerItem[]): PanelMaker<number> =>
  (end, colours) => {
    let state = emptyPicker
    return {
      take(key) {
        const next = stepPicker(state, key, items)
        if (next === 'cancelled') end(undefined)
        else if ('picked' in next) end(next.picked)
        else state = next
        return true
      },
      draw({ columns, rows }) {
        const size = { columns: Math.max(1, columns - 1), rows: Math.max(2, rows - 1) }
        const shown = pickerRows(title, items, state, size)
        const list = shown.items.map(({ text, isChosen, tone }) => {
          if (isChosen) return colours.bold(text)
          return tone === 'plain' ? text : colours[tone ?? 'dim'](text)
        })
        return { rows: [shown.title, ...list], cursor: { row: 0, column: Math.min(shown.cursorColumn, columns - 1) } }
      },
      end: () => end(undefined),
    }
  }

/** A form to fill in. */
export interface FormToFill {
  readonly fields: readonly QuestionField[]
  /** Texts that were refused, and the faults of their fields. */
  readonly texts?: FieldTexts
  readonly problems?: FieldTexts
  /** Called with the text of a form in which nothing else is filled in. Returns true if it was a command. */
  readonly isCommand?: (text: string) => boolean
}

/** Keys of the line that work while a form is open. */
const keysOfLine: ReadonlySet<string> = new Set(['escape', 'ctrl+c', 'ctrl+d', 'ctrl+l', 'ctrl+z'])

/** Returns the maker of a form. Its result is the answer. */
export const formPanel =
  ({ fields, texts, problems, isCommand = () => false }: FormToFill): PanelMaker<FormAnswer> =>
  (end, colours) => {
    let state = formState(fields, texts, problems)
    const paint: Readonly<Record<FormPart, (text: string) => string>> = {
      name: (text) => text,
      about: colours.dim,
      text: (text) => text,
      chosen: colours.green,
      problem: colours.red,
      hint: colours.dim,
    }
    return {
      take(key) {
        if (key.type === 'key' && keysOfLine.has(key.name)) return false
        const filled = Object.values(textsOf(state)).filter((text) => text !== '')
        if (key.type === 'key' && key.name === 'enter' && filled.length === 1 && isCommand(filled[0]!)) {
          state = { ...formState(fields), isTouched: true }
          return true
        }
        const next = stepForm(state, key, fields)
        if (next !== undefined && !('at' in next)) end(next)
        else state = next ?? state
        return true
      },
      draw({ columns, rows }) {
        const shown = formRows(state, fields, { columns: Math.max(1, columns - 1), rows })
        return {
          rows: shown.rows.map(({ parts }) => parts.map(({ part, text }) => paint[part](text)).join('')),
          cursor: { row: shown.cursor.row, column: Math.min(shown.cursor.column, columns - 1) },
        }
      },
      end: () => end(undefined),
    }
  }
