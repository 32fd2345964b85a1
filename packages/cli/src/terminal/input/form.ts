import { limitWords, readFields, type QuestionField } from '../../../../bridge/src/client/questionForm.ts'
import { oneLine, withoutControls } from '../../../../charts/src/plainText.ts'
import { fitted, textWidth } from '../../../../charts/src/textWidth.ts'
import { edit, emptyEditor, insertText, replaceText, type EditorState } from './editor.ts'
import { editorCommands } from './inputState.ts'
import type { Key } from './keys.ts'

/** Texts by field name. */
export type FieldTexts = { readonly [name: string]: string }

/** A form that a person fills in, one text for each field. */
export interface FormState {
  /** Index of the field with the focus. */
  readonly at: number
  readonly texts: { readonly [name: string]: EditorState }
  /** Faults of fields, by name. */
  readonly problems: FieldTexts
  /** True once a key was meant for the form. An Enter before that decides nothing. */
  readonly isTouched: boolean
}

/** Result of a form: the value with the texts that it was read from, or a refusal to answer. */
export type FormAnswer = { readonly value: unknown; readonly texts: FieldTexts } | { readonly declined: string }

/** Effect of a key: a state or an answer; `undefined` if the key is not for the form. */
export type FormStep = FormState | FormAnswer | undefined

/** Returns the initial state of a form, with any texts that were refused and the reasons. */
export function formState(
  fields: readonly QuestionField[],
  texts: FieldTexts = {},
  problems: FieldTexts = {},
): FormState {
  const wrong = fields.findIndex(({ name }) => Object.hasOwn(problems, name))
  return {
    at: Math.max(0, wrong),
    texts: Object.fromEntries(fields.map(({ name }) => [name, replaceText(emptyEditor, texts[name] ?? '')])),
    problems,
    isTouched: false,
  }
}

/** Returns the answers that a field offers; empty if any text is allowed. */
const choicesOf = ({ form }: QuestionField): readonly string[] =>
  form.type === 'boolean' ? ['yes', 'no'] : form.type === 'choice' ? form.values.map(String) : []

const moves: Readonly<Record<string, 1 | -1>> = { up: -1, 'ctrl+p': -1, 'shift+tab': -1, down: 1, 'ctrl+n': 1, tab: 1 }
const refusal = /^-(?:\s+(.*))?$/s

export const textsOf = ({ texts }: FormState): FieldTexts =>
  Object.fromEntries(Object.entries(texts).map(([name, { text }]) => [name, text]))

/** Applies a key. `-` in a form that is otherwise empty declines, with the words after it as the reason. Pure. */
export function stepForm(state: FormState, key: Key, fields: readonly QuestionField[]): FormStep {
  const { at } = state
  const field = fields[at]!
  const editor = state.texts[field.name]!
  const to = (changed: EditorState): FormState => {
    const { [field.name]: _, ...problems } = state.problems
    return { ...state, texts: { ...state.texts, [field.name]: changed }, problems, isTouched: true }
  }
  if (key.type !== 'key') {
    const text = withoutControls(key.text).replace(/\s+/g, ' ')
    const choices = choicesOf(field)
    const isFree = choices.length === 0 || text === '-' || editor.text.startsWith('-')
    const chosen = isFree ? undefined : choiceFor(choices, text)
    if (!isFree) return chosen === undefined ? { ...state, isTouched: true } : to(replaceText(editor, chosen))
    return to(insertText(text === '-' && choices.length > 0 ? replaceText(editor, '') : editor, text))
  }
  const step = moves[key.name]
  if (step !== undefined) return { ...state, at: (at + step + fields.length) % fields.length, isTouched: true }
  if (key.name === 'enter') return state.isTouched ? answered(state, fields) : state
  const choices = choicesOf(field)
  if (choices.length > 0 && (key.name === 'left' || key.name === 'right')) {
    const by = key.name === 'right' ? 1 : -1
    const from = choices.indexOf(editor.text)
    const next = from === -1 ? (by === 1 ? 0 : choices.length - 1) : (from + by + choices.length) % choices.length
    return to(replaceText(editor, choices[next]!))
  }
  // A choice is taken back as a whole.
  if (choices.length > 0 && key.name === 'backspace') return to(replaceText(editor, ''))
  const command = editorCommands[key.name]
  return command === undefined ? undefined : to(edit(editor, command))
}

/** Returns the choice that begins with a text, or whose number it is. */
const choiceFor = (choices: readonly string[], text: string): string | undefined =>
  choices.find((one) => one.toLowerCase().startsWith(text.toLowerCase())) ?? choices[Number(text) - 1]

function answered(state: FormState, fields: readonly QuestionField[]): FormState | FormAnswer {
  const texts = textsOf(state)
  const filled = Object.values(texts).filter((text) => text !== '')
  const [said, reason = ''] = filled.length === 1 ? (refusal.exec(filled[0]!) ?? []) : []
  if (said !== undefined) return { declined: reason }
  const read = readFields(fields, texts)
  if ('value' in read) return { value: read.value, texts }
  return { ...state, problems: read.problems, at: fields.findIndex(({ name }) => Object.hasOwn(read.problems, name)) }
}

/** Part of a row of a form, for its colour. */
export type FormPart = 'name' | 'about' | 'text' | 'chosen' | 'problem' | 'hint'

export interface FormRow {
  readonly parts: readonly { readonly part: FormPart; readonly text: string }[]
}

export interface FormRows {
  readonly rows: readonly FormRow[]
  readonly cursor: { readonly row: number; readonly column: number }
}

/** Hints on keys, of which the longest that fits is shown. */
const hints = [
  '  Tab, ↑ ↓ field · ← → choose · Enter answer · - no answer · Esc stop',
  '  Tab field · ← → choose · Enter answer · - none',
  '  Tab · ← → · Enter · - none',
]
const mostName = 16

/** Lays out the fields as terminal rows, as many as fit around the field with the focus. Pure. */
export function formRows(
  state: FormState,
  fields: readonly QuestionField[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): FormRows {
  const width = Math.min(mostName, Math.max(1, ...fields.map(({ name }) => textWidth(oneLine(name)))))
  const indent = width + 6
  const room = Math.max(1, columns - indent)
  let cursorColumn = indent
  let cursorAt = 0
  const blocks = fields.map((field, index): readonly FormRow[] => {
    const { name, form, isRequired, description } = field
    const isHere = index === state.at
    const { text, at } = state.texts[name]!
    const limits = form.type === 'text' || form.type === 'number' || form.type === 'json' ? limitWords(form) : ''
    const about = [oneLine(description), limits, isRequired ? '' : 'may be left empty'].filter((words) => words !== '')
    const head = `  ${isHere ? '›' : ' '} ${fitted(oneLine(name), width)}`
    const pad = ' '.repeat(Math.max(0, indent - textWidth(head)))
    const value = valueRow(field, text, room)
    if (isHere && value.length === 1) {
      const shown = shownEnd(text, at, room)
      cursorColumn = indent + shown.column
      value[0] = { part: 'text', text: shown.text }
    }
    const problem = state.problems[name]
    const named = { part: 'name', text: head + pad } as const
    const space = { part: 'text', text: ' '.repeat(indent) } as const
    const said = about.length === 0 ? [] : [{ part: 'about', text: fitted(about.join(' · '), room) } as const]
    const valued = said.length === 0 ? [named, ...value] : [space, ...value]
    const lines: FormRow[] = [
      ...(said.length === 0 ? [] : [{ parts: [named, ...said] }]),
      { parts: valued },
      ...(problem === undefined
        ? []
        : [{ parts: [space, { part: 'problem', text: fitted(oneLine(problem), room) } as const] }]),
    ]
    if (isHere) cursorAt = said.length === 0 ? 0 : 1
    return lines
  })
  const [from, upTo] = around(blocks, state.at, Math.max(1, rows - 2))
  const shown = blocks.slice(from, upTo)
  const above = blocks.slice(from, state.at).flat().length
  const foot: FormRow = {
    parts: [{ part: 'hint', text: fitted(hints.find((one) => textWidth(one) <= columns) ?? hints.at(-1)!, columns) }],
  }
  return {
    rows: [...shown.flat(), { parts: [] }, foot],
    cursor: { row: above + cursorAt, column: cursorColumn },
  }
}

/** Returns the text of a field, or its choices with a mark before the chosen one. */
function valueRow(field: QuestionField, text: string, room: number): { part: FormPart; text: string }[] {
  const choices = choicesOf(field)
  if (choices.length === 0 || text.startsWith('-')) return [{ part: 'text', text: fitted(oneLine(text), room) }]
  const all = choices.map((one) => `(${one === text ? '•' : ' '}) ${oneLine(one)}`)
  if (textWidth(all.join('   ')) > room) {
    const at = choices.indexOf(text)
    const one = at === -1 ? `( ) ${oneLine(choices[0]!)}` : all[at]!
    const words = `${one}   ${at + 1} of ${choices.length}`
    return [
      { part: at === -1 ? 'text' : 'chosen', text: fitted(words, room) },
      { part: 'text', text: '' },
    ]
  }
  return all.flatMap((words, index) => [
    { part: choices[index] === text ? 'chosen' : 'text', text: words } as const,
    { part: 'text', text: index === all.length - 1 ? '' : '   ' } as const,
  ])
}

/** Returns the visible part of a text around its cursor, and the cursor's column in it. */
function shownEnd(text: string, at: number, room: number): { readonly text: string; readonly column: number } {
  let start = 0
  while (textWidth(oneLine(text.slice(start, at))) >= room) start += 1
  return { text: fitted(text.slice(start), room), column: textWidth(text.slice(start, at)) }
}

/** Returns the range of blocks around one that fits into so many rows: the first index, and the index after the last. */
function around(blocks: readonly (readonly FormRow[])[], at: number, rows: number): readonly [number, number] {
  let from = at
  let upTo = at + 1
  let used = blocks[at]!.length
  for (;;) {
    const below = blocks[upTo]?.length
    const above = blocks[from - 1]?.length
    if (below !== undefined && used + below <= rows) {
      used += below
      upTo += 1
    } else if (above !== undefined && used + above <= rows) {
      used += above
      from -= 1
    } else return [from, upTo]
  }
}
