import type { Completer, Completion, Completions } from './completion.ts'
import { edit, emptyEditor, insertText, replaceText, type EditorCommand, type EditorState } from './editor.ts'
import { historyOf, moveInHistory, searchHistory, type HistoryState } from './history.ts'
import { inputRows, placeInRow } from './inputRows.ts'
import type { Key } from './keys.ts'

/** State of an input line. */
export interface InputState {
  readonly editor: EditorState
  readonly history: HistoryState
  /** The current search of the history. `index`: the entry found, -1 if there is none. */
  readonly search?: { readonly query: string; readonly index: number; readonly before: EditorState }
  /** Index of the chosen item in the list below the line. */
  readonly chosen: number
  /** Start of the part of the text whose list was dismissed. */
  readonly dismissed?: number
  /** True if the last key was Esc and dismissed nothing. */
  readonly isEscaped: boolean
}

/** Effect of a key other than a change of the line. */
export type InputRequest =
  | { readonly type: 'submit' }
  | { readonly type: 'interrupt' }
  | { readonly type: 'escape' }
  | { readonly type: 'end' }
  | { readonly type: 'suspend' }
  | { readonly type: 'clear' }

export interface InputContext {
  /** Number of columns of the text, for moves between rows. */
  readonly columns: number
  readonly prompt: string
  readonly complete?: Completer
  /** True if the history can be used; false while a question is open. */
  readonly hasHistory: boolean
  /** Returns the form in which a character is shown. */
  readonly show?: (character: string) => string
  /** Returns the whole text of a history entry. */
  readonly textOf?: (entry: string) => string
  /** Adds a paste. Returns the text to insert. */
  readonly paste: (text: string) => string
}

export interface InputStep {
  readonly state: InputState
  readonly request?: InputRequest
}

/** Returns the state of an empty line. */
export const inputOf = (entries: readonly string[]): InputState => ({
  editor: emptyEditor,
  history: historyOf(entries),
  chosen: 0,
  isEscaped: false,
})

/** Commands of an editor by their keys. */
export const editorCommands: Readonly<Record<string, EditorCommand>> = {
  left: 'left',
  right: 'right',
  'ctrl+b': 'left',
  'ctrl+f': 'right',
  'ctrl+left': 'wordLeft',
  'ctrl+right': 'wordRight',
  'alt+left': 'wordLeft',
  'alt+right': 'wordRight',
  'alt+b': 'wordLeft',
  'alt+f': 'wordRight',
  home: 'lineStart',
  end: 'lineEnd',
  'ctrl+a': 'lineStart',
  'ctrl+e': 'lineEnd',
  backspace: 'deleteBack',
  'shift+backspace': 'deleteBack',
  delete: 'deleteForward',
  'ctrl+w': 'cutBlankBack',
  'alt+backspace': 'cutWordBack',
  'ctrl+backspace': 'cutWordBack',
  'alt+d': 'cutWordForward',
  'ctrl+delete': 'cutWordForward',
  'ctrl+k': 'cutToLineEnd',
  'ctrl+u': 'cutToLineStart',
  'ctrl+y': 'yank',
  'ctrl+_': 'undo',
  'ctrl+-': 'undo',
}

const newLines = new Set(['alt+enter', 'shift+enter', 'ctrl+enter'])

/** Returns the list below the line; `undefined` while there is none. Pure. */
export function openList(state: InputState, { complete }: Pick<InputContext, 'complete'>): Completions | undefined {
  const { text, at } = state.editor
  if (complete === undefined || state.search !== undefined) return undefined
  // Going through what was said before is not typing.
  if (state.history.index < state.history.entries.length) return undefined
  const found = complete(text, at)
  return found === undefined || found.items.length === 0 || found.start === state.dismissed ? undefined : found
}

/** Applies a key to a line. Pure, except for the state kept by `paste` and `complete`. */
export function stepInput(state: InputState, key: Key, context: InputContext): InputStep {
  const { isEscaped } = state
  const next = state.search === undefined ? stepLine : stepSearch
  const step = next({ ...state, isEscaped: false }, key, context)
  // Esc twice, where it had nothing to stop: the last thing said comes back to be edited.
  if (isEscaped && step.request?.type === 'escape' && state.editor.text === '' && context.hasHistory)
    return { state: recall({ ...state, isEscaped: false }, -1) ?? state }
  return step
}

function stepLine(state: InputState, key: Key, context: InputContext): InputStep {
  if (key.type === 'text') return typed(state, insertText(state.editor, key.text), context)
  if (key.type === 'paste') return typed(state, insertText(state.editor, context.paste(key.text), false), context)
  const { name } = key
  const list = openList(state, context)
  if (list !== undefined) {
    const step = stepList(state, name, list, context)
    if (step !== undefined) return step
  }
  const { text, at } = state.editor
  if (name === 'enter') return enter(state, context)
  if (newLines.has(name)) return typed(state, insertText(state.editor, '\n', false), context)
  if (name === 'ctrl+c') return { state, request: { type: 'interrupt' } }
  if (name === 'ctrl+z') return { state, request: { type: 'suspend' } }
  if (name === 'ctrl+l') return { state, request: { type: 'clear' } }
  if (name === 'escape') return { state: { ...state, isEscaped: true }, request: { type: 'escape' } }
  if (name === 'ctrl+d')
    return text === ''
      ? { state, request: { type: 'end' } }
      : typed(state, edit(state.editor, 'deleteForward'), context)
  if (name === 'ctrl+r' && context.hasHistory)
    return { state: { ...state, search: { query: '', index: state.history.entries.length, before: state.editor } } }
  if (name === 'up' || name === 'down' || name === 'ctrl+p' || name === 'ctrl+n') {
    const step = name === 'up' || name === 'ctrl+p' ? -1 : 1
    const place = name.startsWith('ctrl') ? undefined : placeInRow(inputRows(text, at, context), step)
    if (place !== undefined) return { state: { ...state, editor: { ...state.editor, at: place, last: 'other' } } }
    return { state: (context.hasHistory ? recall(state, step) : undefined) ?? state }
  }
  const command = editorCommands[name]
  return command === undefined ? { state } : typed(state, edit(state.editor, command), context)
}

/** Returns the step for a changed text, which counts as typed from then on. A dismissed list stays dismissed for the same word. */
function typed(state: InputState, editor: EditorState, { complete }: InputContext): InputStep {
  if (editor.text === state.editor.text) return { state: { ...state, editor } }
  const { dismissed, ...rest } = state
  const isSame = dismissed !== undefined && complete?.(editor.text, editor.at)?.start === dismissed
  return {
    state: { ...rest, editor, history: historyOf(state.history.entries), chosen: 0, ...(isSame ? { dismissed } : {}) },
  }
}

function enter(state: InputState, context: InputContext): InputStep {
  const { editor } = state
  const { text, at } = editor
  if (at === text.length && text.endsWith('\\'))
    return typed(state, insertText(edit(editor, 'deleteBack'), '\n', false), context)
  return { state, request: { type: 'submit' } }
}

/** Applies a key to the open list; `undefined` if the key has its usual effect on the line. */
function stepList(state: InputState, name: string, list: Completions, context: InputContext): InputStep | undefined {
  const { items } = list
  const chosen = Math.min(state.chosen, items.length - 1)
  const move = (step: number): InputStep => ({
    state: { ...state, chosen: (chosen + step + items.length) % items.length },
  })
  if (name === 'up' || name === 'ctrl+p') return move(-1)
  if (name === 'down' || name === 'ctrl+n') return move(1)
  if (name === 'escape') return { state: { ...state, dismissed: list.start } }
  if (name !== 'tab' && name !== 'enter') return undefined
  const item = items[chosen]!
  const done = typed(state, completed(state.editor, list, item), context)
  return name === 'enter' && item.isWhole === true ? { ...done, request: { type: 'submit' } } : done
}

function completed(editor: EditorState, { start, end }: Completions, { text }: Completion): EditorState {
  const rest = editor.text.slice(end)
  const isSpaced = text.endsWith(' ') && /^\s/.test(rest)
  const put = isSpaced ? text.slice(0, -1) : text
  return replaceText(editor, editor.text.slice(0, start) + put + rest, start + put.length)
}

function recall(state: InputState, step: -1 | 1): InputState | undefined {
  const moved = moveInHistory(state.history, step, state.editor.text)
  if (moved === undefined) return undefined
  return { ...state, history: moved.state, editor: replaceText(state.editor, moved.text) }
}

function stepSearch(state: InputState, key: Key, { paste, textOf }: InputContext): InputStep {
  const { search, ...rest } = state
  const { query, index, before } = search!
  const { entries } = state.history
  const seek = (wanted: string, from = entries.length): InputStep => ({
    state: {
      ...state,
      search: { query: wanted, before, index: wanted === '' ? from : searchHistory(entries, wanted, from, textOf) },
    },
  })
  if (key.type === 'text') return seek(query + key.text)
  if (key.type === 'paste') return seek(query + (textOf?.(paste(key.text)) ?? key.text))
  if (key.name === 'backspace') return seek([...query].slice(0, -1).join(''))
  if (key.name === 'ctrl+r') {
    const older = query === '' ? -1 : searchHistory(entries, query, index, textOf)
    return older === -1 ? { state } : seek(query, index)
  }
  if (key.name === 'escape' || key.name === 'ctrl+g' || key.name === 'ctrl+c') return { state: rest }
  const found = entries[index]
  const taken: InputState = found === undefined ? rest : { ...rest, editor: replaceText(before, found) }
  if (key.name === 'enter' || key.name === 'tab' || editorCommands[key.name] !== undefined) return { state: taken }
  return { state }
}
