import * as fc from 'fast-check'
import { edit, emptyEditor, insertText, type EditorCommand, type EditorState } from '../../src/terminal/input/editor.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { someRuns } from '../../../../test/support/seeds.ts'

/** A text with `|` where the cursor is. */
const shown = ({ text, at }: EditorState): string => `${text.slice(0, at)}|${text.slice(at)}`

function stateOf(marked: string): EditorState {
  const at = marked.indexOf('|')
  return { ...emptyEditor, text: marked.replace('|', ''), at }
}

const all: readonly EditorCommand[] = [
  'left',
  'right',
  'wordLeft',
  'wordRight',
  'lineStart',
  'lineEnd',
  'deleteBack',
  'deleteForward',
  'cutWordBack',
  'cutBlankBack',
  'cutWordForward',
  'cutToLineEnd',
  'cutToLineStart',
  'yank',
  'undo',
]

const table: readonly (readonly [before: string, command: EditorCommand, after: string])[] = [
  ['ab|c', 'left', 'a|bc'],
  ['|abc', 'left', '|abc'],
  ['ab|c', 'right', 'abc|'],
  ['abc|', 'right', 'abc|'],
  ['a👨‍👩‍👧|b', 'left', 'a|👨‍👩‍👧b'],
  ['a|e\u0301b', 'right', 'ae\u0301|b'],
  ['日|本', 'right', '日本|'],
  ['one two|', 'wordLeft', 'one |two'],
  ['one |two', 'wordLeft', '|one two'],
  ['|  one two', 'wordRight', '  one| two'],
  ['foo_bar|.', 'wordLeft', '|foo_bar.'],
  ['日本語|', 'wordLeft', '|日本語'],
  ['a\nbc|d', 'lineStart', 'a\n|bcd'],
  ['|\na', 'lineStart', '|\na'],
  ['a|b\nc', 'lineEnd', 'ab|\nc'],
  ['a👨‍👩‍👧|', 'deleteBack', 'a|'],
  ['e\u0301|', 'deleteBack', '|'],
  ['a\n|b', 'deleteBack', 'a|b'],
  ['|🇩🇪a', 'deleteForward', '|a'],
  ['a|', 'deleteForward', 'a|'],
  ['see src/a.ts|', 'cutBlankBack', 'see |'],
  ['see  |', 'cutBlankBack', '|'],
  ['one two|', 'cutWordBack', 'one |'],
  ['one| two three', 'cutWordForward', 'one| three'],
  ['ab|cd\nef', 'cutToLineEnd', 'ab|\nef'],
  ['ab|\nef', 'cutToLineEnd', 'ab|ef'],
  ['x\nab|cd', 'cutToLineStart', 'x\n|cd'],
  ['x\n|cd', 'cutToLineStart', 'x|cd'],
]

describe('the edited text', (it) => {
  it('follows each command by characters as people see them', () => {
    for (const [from, command, to] of table) assert.is(shown(edit(stateOf(from), command)), to, `${from} ${command}`)
  })

  it('gives back what was cut, cuts in a row as one', () => {
    let state = stateOf('one two three|')
    for (const command of ['cutBlankBack', 'cutBlankBack'] as const) state = edit(state, command)
    assert.equal([shown(state), state.cut], ['one |', 'two three'])
    assert.is(shown(edit(edit(state, 'lineStart'), 'yank')), 'two three|one ')
    const forward = edit(edit(stateOf('|one two'), 'cutWordForward'), 'cutWordForward')
    assert.is(forward.cut, 'one two')
    assert.is(edit(edit(edit(stateOf('ab|cd'), 'cutToLineEnd'), 'left'), 'cutToLineStart').cut, 'a')
  })

  it('joins what is typed to the character before', () => {
    const state = insertText(insertText(emptyEditor, 'e'), '\u0301')
    assert.is(shown(edit(state, 'deleteBack')), '|')
    assert.is(shown(insertText(stateOf('|\u0301x'), 'e')), 'e\u0301|x')
  })

  it('undoes what was typed at once, and one command at a time', () => {
    let state = insertText(insertText(emptyEditor, 'one'), ' two')
    state = edit(state, 'cutBlankBack')
    state = insertText(state, 'three')
    const texts = [state.text]
    for (let i = 0; i < 4; i++) texts.push((state = edit(state, 'undo')).text)
    assert.equal(texts, ['one three', 'one ', 'one two', '', ''])
  })
})

const piece = fc.constantFrom('a', ' ', '\n', '日', 'e\u0301', '👩‍💻', '🇩🇪', 'word', '.', '\u0301', '\u200D', '\u{F0000}')
const step = fc.oneof(
  piece.map((text) => ({ text })),
  fc.constantFrom(...all).map((command) => ({ command })),
)

describe('whatever is typed', (it) => {
  it('leaves the cursor between two characters', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state = emptyEditor
        for (const one of steps) {
          state = 'text' in one ? insertText(state, one.text) : edit(state, one.command)
          const starts = [...new Intl.Segmenter().segment(state.text)].map(({ index }) => index)
          assert.ok(state.at === state.text.length || starts.includes(state.at), shown(state))
        }
      }),
      { numRuns: someRuns(1_000), seed: 20_261_124 },
    )
  })

  it('loses no character: each command keeps the text, or takes out or puts in one part at the cursor', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state = emptyEditor
        for (const one of steps) {
          const before = state
          state = 'text' in one ? insertText(state, one.text) : edit(state, one.command)
          if ('text' in one)
            assert.is(state.text, before.text.slice(0, before.at) + one.text + before.text.slice(before.at))
          else if (one.command === 'yank')
            assert.is(state.text, before.text.slice(0, before.at) + before.cut + before.text.slice(before.at))
          else if (one.command.startsWith('cut') && state.text !== before.text) {
            const removed = before.text.length - state.text.length
            const newest =
              one.command.includes('Back') || one.command === 'cutToLineStart'
                ? state.cut.slice(0, removed)
                : state.cut.slice(-removed)
            const at = [before.at - removed, before.at].find(
              (place) => place >= 0 && state.text.slice(0, place) + newest + state.text.slice(place) === before.text,
            )
            assert.ok(at !== undefined, `${shown(before)} ${one.command} ${shown(state)} "${state.cut}"`)
          } else if (one.command.startsWith('delete')) {
            const removed = before.text.length - state.text.length
            const from = one.command === 'deleteBack' ? before.at - removed : before.at
            assert.is(state.text, before.text.slice(0, from) + before.text.slice(from + removed))
          } else if (one.command !== 'undo' && !one.command.startsWith('cut')) assert.is(state.text, before.text)
        }
        // All of it can be undone.
        for (let i = 0; i < steps.length + 1; i++) state = edit(state, 'undo')
        assert.is(state.text, '')
      }),
      { numRuns: someRuns(1_000), seed: 20_261_125 },
    )
  })
})
