import * as fc from 'fast-check'
import { commandCompleter, firstCompleter, pathCompleter } from '../../src/terminal/input/completion.ts'
import {
  inputOf,
  openList,
  stepInput,
  type InputContext,
  type InputState,
} from '../../src/terminal/input/inputState.ts'
import { KeyReader } from '../../src/terminal/input/keys.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { someRuns } from '../../../../test/support/seeds.ts'

const complete = firstCompleter(
  commandCompleter([
    { text: '/steer ', detail: 'say it' },
    { text: '/abort', detail: 'stop', isWhole: true },
    { text: '/approve', isWhole: true },
    { text: '/use ' },
  ]),
  pathCompleter(() => ['src/main.ts', 'src/use.ts', 'README.md']),
)

const context: InputContext = { columns: 40, prompt: '› ', hasHistory: true, complete, paste: (text) => text }

const up = '\u001B[A'
const down = '\u001B[B'
const esc = '\u001B[27u'
const shiftEnter = '\u001B[13;2u'
const altEnter = '\u001B\r'
const ctrlR = '\u0012'

/** Returns the line after keys: the text with `|` at the cursor, and the request it made. */
function after(
  keys: string,
  { entries = [], from, ...others }: Partial<InputContext> & { entries?: readonly string[]; from?: InputState } = {},
) {
  let state = from ?? inputOf(entries)
  const asked: string[] = []
  for (const key of new KeyReader().take(keys)) {
    const step = stepInput(state, key, { ...context, ...others })
    state = step.state
    if (step.request !== undefined) asked.push(step.request.type)
  }
  const { text, at } = state.editor
  return { line: `${text.slice(0, at)}|${text.slice(at)}`, asked, state }
}

const listOf = (state: InputState): string[] | undefined => openList(state, context)?.items.map(({ text }) => text)

describe('the line with what is around it', (it) => {
  it('is sent with Enter, and goes on in a new line where Enter is held back', () => {
    assert.equal(after('hi\r').asked, ['submit'])
    for (const newLine of [altEnter, shiftEnter, '\\\r', '\u001B[27;2;13~', '\u001B[13;5u']) {
      const { line, asked } = after(`one${newLine}two`)
      assert.equal([line, asked], ['one\ntwo|', []], JSON.stringify(newLine))
    }
    // Not in the middle of a line, as in a path.
    assert.equal(after('a\\b\u001B[D\r').asked, ['submit'])
  })

  it('asks for what is not its own', () => {
    assert.equal(after('x\u0003').asked, ['interrupt'])
    assert.equal(after('\u0004').asked, ['end'])
    assert.equal(after('ab\u001B[D\u0004').line, 'a|')
    assert.equal(after('ab\u001B[D\u0004').asked, [])
    assert.equal(after(`x${esc}`).asked, ['escape'])
    assert.equal(after('\u001A\u000C').asked, ['suspend', 'clear'])
  })

  it('moves over its rows first, then to what was said before, and back', () => {
    const entries = ['first', 'second']
    const { line, state } = after(`ab${altEnter}cd${up}`, { entries })
    assert.is(line, 'ab|\ncd')
    assert.is(after(down, { from: state }).line, 'ab\ncd|')
    assert.is(after(up, { from: state }).line, 'second|')
    assert.is(after(`${up}${up}${up}`, { from: state }).line, 'first|')
    assert.is(after(`${up}${up}${down}${down}`, { from: state }).line, 'ab\ncd|')
    assert.is(after(`x${up}`, { entries, hasHistory: false }).line, 'x|')
    // A line that the terminal wraps has rows too.
    assert.is(after(`${'x'.repeat(50)}${up}`, { entries }).line, `${'x'.repeat(13)}|${'x'.repeat(37)}`)
  })

  it('searches what was said before, the newest first', () => {
    const entries = ['run the Tests', 'fix it', 'run the linter']
    assert.is(after(`${ctrlR}run\r`, { entries }).line, 'run the linter|')
    assert.equal(after(`${ctrlR}run\r`, { entries }).asked, [])
    assert.is(after(`${ctrlR}run${ctrlR}\r`, { entries }).line, 'run the Tests|')
    assert.is(after(`${ctrlR}run${ctrlR}${ctrlR}\r`, { entries }).line, 'run the Tests|')
    assert.is(after(`${ctrlR}testX\u007F\r`, { entries }).line, 'run the Tests|')
    assert.is(after(`typed${ctrlR}run${esc}`, { entries }).line, 'typed|')
    assert.is(after(`typed${ctrlR}nothing like it\r`, { entries }).line, 'typed|')
    assert.equal(after(`typed${ctrlR}run\u0003`, { entries }).asked, [])
  })

  it('has the last thing said back at Esc twice, where it is empty', () => {
    const entries = ['said']
    assert.is(after(`${esc}${esc}`, { entries }).line, 'said|')
    assert.is(after(`${esc}x${esc}`, { entries }).line, 'x|')
    assert.is(after(`x${esc}${esc}`, { entries }).line, 'x|')
  })
})

describe('the list below the line', (it) => {
  it('has the commands that fit what is typed', () => {
    assert.equal(listOf(after('/').state), ['/steer ', '/abort', '/approve', '/use '])
    assert.equal(listOf(after('/a').state), ['/abort', '/approve'])
    assert.equal(listOf(after('/ort').state), ['/abort'])
    assert.is(listOf(after('/steer now').state), undefined)
    assert.is(listOf(after('/some/file').state), undefined)
    assert.is(listOf(after('say /a').state), undefined)
  })

  it('completes with Tab, and sends with Enter what is whole', () => {
    assert.equal([after('/a\t').line, after('/a\t').asked], ['/abort|', []])
    assert.equal([after('/a\r').line, after('/a\r').asked], ['/abort|', ['submit']])
    assert.equal([after(`/a${down}\r`).line, after(`/a${down}\r`).asked], ['/approve|', ['submit']])
    assert.equal(after(`/a${up}\r`).line, '/approve|')
    assert.equal([after('/st\r').line, after('/st\r').asked], ['/steer |', []])
    assert.equal(after('/nothing\r').asked, ['submit'])
  })

  it('is put away with Esc, until another word is typed', () => {
    const { state, asked } = after(`/a${esc}`)
    assert.equal([listOf(state), asked], [undefined, []])
    assert.is(listOf(after('b', { from: state }).state), undefined)
    assert.equal(after('\r', { from: state }).asked, ['submit'])
    assert.equal(listOf(after('\u007F\u007F\u007Fsee @main', { from: state }).state), ['@src/main.ts '])
    assert.equal(listOf(after('\u007F\u007F/a', { from: state }).state), ['/abort', '/approve'])
  })

  it('completes paths behind @, by the beginning of a name before anything else', () => {
    assert.equal(listOf(after('@').state)?.length, 3)
    assert.equal(listOf(after('see @use').state), ['@src/use.ts '])
    assert.equal(listOf(after('see @sm').state), ['@src/main.ts '])
    assert.is(after('see @use\r').line, 'see @src/use.ts |')
    assert.equal(after('see @use\r').asked, [])
    assert.is(after('@mai then\u001B[1;5D\u001B[D\t').line, '@src/main.ts| then')
    assert.is(listOf(after('me@src').state), undefined)
  })

  it('is not shown for what was said before', () => {
    assert.is(listOf(after(up, { entries: ['/a'] }).state), undefined)
  })
})

describe('whatever keys are pressed', (it) => {
  it('what was typed is in the line, unless it was deleted, cut or replaced', () => {
    const moves = [up, down, '\u001B[D', '\u001B[C', '\u0001', '\u0005', '\u001Bb', '\u001Bf', altEnter]
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '日', '👩‍💻', 'e\u0301', ' ', ...moves), { maxLength: 40 }), (keys) => {
        const { line } = after(keys.join(''), { columns: 9 })
        const typed = keys.filter((key) => !moves.includes(key)).join('')
        const count = (text: string): string => [...text.replace(/[|\n]/g, '')].toSorted().join('')
        assert.is(count(line), count(typed))
      }),
      { numRuns: someRuns(1_000), seed: 20_261_126 },
    )
  })
})
