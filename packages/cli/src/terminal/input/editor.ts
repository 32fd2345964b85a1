import { lazily } from '../../../../../src/protocol/lazily.ts'

/** A text being edited. `at`: position of the cursor, always between two characters as people see them. */
export interface EditorState {
  readonly text: string
  readonly at: number
  /** The text that was cut last, for `yank`. */
  readonly cut: string
  /** Earlier states of the text, for `undo`; the newest last. */
  readonly past: readonly Before[]
  /** Kind of the last command. Consecutive typing is undone at once, and consecutive cuts form one cut. */
  readonly last: 'typing' | 'cutting' | 'other'
}

interface Before {
  readonly text: string
  readonly at: number
}

export type EditorCommand =
  | 'left'
  | 'right'
  | 'wordLeft'
  | 'wordRight'
  | 'lineStart'
  | 'lineEnd'
  | 'deleteBack'
  | 'deleteForward'
  | 'cutWordBack'
  | 'cutBlankBack'
  | 'cutWordForward'
  | 'cutToLineEnd'
  | 'cutToLineStart'
  | 'yank'
  | 'undo'

const mostUndone = 200

/** An empty text. */
export const emptyEditor: EditorState = { text: '', at: 0, cut: '', past: [], last: 'other' }

const characters = lazily(() => new Intl.Segmenter())
const words = lazily(() => new Intl.Segmenter(undefined, { granularity: 'word' }))

const before = (text: string, at: number): number =>
  at === 0
    ? 0
    : characters()
        .segment(text)
        .containing(at - 1)!.index

function after(text: string, at: number): number {
  const next = characters().segment(text).containing(at)
  return next === undefined ? text.length : next.index + next.segment.length
}

/** Returns the nearest position at or before `at` that does not split a character. */
export const wholeBefore = (text: string, at: number): number => {
  if (at >= text.length) return text.length
  return at <= 0 ? 0 : characters().segment(text).containing(at)!.index
}

function wordBefore(text: string, at: number): number {
  let start = 0
  for (const { index, isWordLike } of words().segment(text)) {
    if (index >= at) break
    if (isWordLike === true) start = index
  }
  return start
}

function wordAfter(text: string, at: number): number {
  for (const { index, segment, isWordLike } of words().segment(text))
    if (isWordLike === true && index + segment.length > at) return index + segment.length
  return text.length
}

/** Returns the start of the word that ends before the cursor. Only white space separates words. */
function blankBefore(text: string, at: number): number {
  let start = text.slice(0, at).trimEnd().length
  while (start > 0 && /\S/.test(text[start - 1]!)) start -= 1
  return start
}

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1
/** Returns the start of the line. The check is needed because `lastIndexOf` treats a negative position as 0. */
const startOfLine = (text: string, at: number): number => (at === 0 ? 0 : lineStart(text, at))

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

/** Returns the earlier texts with the current one added as the newest. */
const noted = ({ past, text, at }: EditorState): readonly Before[] => [...past.slice(1 - mostUndone), { text, at }]

/** Inserts a text at the cursor. `isTyped`: it is undone together with the typing right before it. Pure. */
export function insertText(state: EditorState, inserted: string, isTyped = true): EditorState {
  if (inserted === '') return state
  const { text, at, last } = state
  const joined = text.slice(0, at) + inserted + text.slice(at)
  return {
    ...state,
    text: joined,
    // With what stands there it may have become one character.
    at: wholeAfter(joined, at + inserted.length),
    past: isTyped && last === 'typing' ? state.past : noted(state),
    last: isTyped ? 'typing' : 'other',
  }
}

function wholeAfter(text: string, at: number): number {
  const start = wholeBefore(text, at)
  return start === at ? at : after(text, at)
}

/** Replaces the whole text. `at`: position of the cursor, by default at the end. Pure. */
export const replaceText = (state: EditorState, text: string, at = text.length): EditorState => ({
  ...state,
  text,
  at: wholeBefore(text, at),
  past: noted(state),
  last: 'other',
})

function remove(state: EditorState, from: number, to: number, isCut: boolean): EditorState {
  const start = Math.min(from, to)
  const end = Math.max(from, to)
  if (start === end) return state
  const { text, cut, last } = state
  const removed = text.slice(start, end)
  const joined = text.slice(0, start) + text.slice(end)
  const base = { text: joined, at: wholeAfter(joined, start), past: noted(state) }
  if (!isCut) return { ...base, cut, last: 'other' }
  const more = from > to ? removed + cut : cut + removed
  return { ...base, cut: last === 'cutting' ? more : removed, last: 'cutting' }
}

/** Applies a command. A command that changes nothing returns the state with only `last` updated. Pure. */
export function edit(state: EditorState, command: EditorCommand): EditorState {
  const { text, at, cut, past } = state
  const to = (place: number): EditorState => ({ ...state, at: place, last: 'other' })
  switch (command) {
    case 'left':
      return to(before(text, at))
    case 'right':
      return to(after(text, at))
    case 'wordLeft':
      return to(wordBefore(text, at))
    case 'wordRight':
      return to(wordAfter(text, at))
    case 'lineStart':
      return to(startOfLine(text, at))
    case 'lineEnd':
      return to(endOfLine(text, at))
    case 'deleteBack':
      return remove(state, at, before(text, at), false)
    case 'deleteForward':
      return remove(state, at, after(text, at), false)
    case 'cutWordBack':
      return remove(state, at, wordBefore(text, at), true)
    case 'cutBlankBack':
      return remove(state, at, blankBefore(text, at), true)
    case 'cutWordForward':
      return remove(state, at, wordAfter(text, at), true)
    case 'cutToLineEnd': {
      const end = endOfLine(text, at)
      // At the end of a line, the line break.
      return remove(state, at, end === at ? after(text, at) : end, true)
    }
    case 'cutToLineStart': {
      const start = startOfLine(text, at)
      return remove(state, at, start === at ? before(text, at) : start, true)
    }
    case 'yank':
      return insertText(state, cut, false)
    case 'undo': {
      const earlier = past.at(-1)
      return earlier === undefined ? to(at) : { ...state, ...earlier, past: past.slice(0, -1), last: 'other' }
    }
  }
}
