import * as fc from 'fast-check'
import { KeyReader, type Key } from '../../src/terminal/input/keys.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { someRuns } from '../../../../test/support/seeds.ts'

/** Keys as short texts: `up`, `"text"`, `<pasted>`. */
const told = (keys: readonly Key[]): string[] =>
  keys.map((key) => (key.type === 'key' ? key.name : key.type === 'text' ? `"${key.text}"` : `<${key.text}>`))

/** Texts that came in a row are one, however they were cut. */
const joined = (keys: readonly Key[]): string[] => told(keys).join(' ').replaceAll('" "', '').split(' ')

const read = (sent: string): string[] => told(new KeyReader().take(sent))

const sequences: readonly (readonly [sent: string, keys: readonly string[]])[] = [
  ['ab é 日本', ['"ab é 日本"']],
  ['a\r', ['"a"', 'enter']],
  ['\r\n\n', ['enter', 'enter']],
  [
    '\u0001\u0005\u000B\u0015\u0017\u0019\u001F',
    ['ctrl+a', 'ctrl+e', 'ctrl+k', 'ctrl+u', 'ctrl+w', 'ctrl+y', 'ctrl+_'],
  ],
  ['\u0003\u0004\u001A\u0000', ['ctrl+c', 'ctrl+d', 'ctrl+z', 'ctrl+space']],
  ['\u007F\u0008\t', ['backspace', 'backspace', 'tab']],
  ['\u001B[A\u001B[B\u001BOC\u001BOD', ['up', 'down', 'right', 'left']],
  ['\u001B[H\u001B[1~\u001B[F\u001B[8~\u001B[3~', ['home', 'home', 'end', 'end', 'delete']],
  ['\u001B[5~\u001B[6~\u001B[Z', ['pageUp', 'pageDown', 'shift+tab']],
  ['\u001B[1;5D\u001B[1;3C\u001B[1;2A\u001B[3;5~', ['ctrl+left', 'alt+right', 'shift+up', 'ctrl+delete']],
  ['\u001B\u001B[D', ['alt+left']],
  ['\u001Bb\u001BF\u001B\u007F\u001B\r', ['alt+b', 'alt+f', 'alt+backspace', 'alt+enter']],
  // As kitty's protocol tells keys.
  [
    '\u001B[13;2u\u001B[13u\u001B[27u\u001B[9u\u001B[127;5u',
    ['shift+enter', 'enter', 'escape', 'tab', 'ctrl+backspace'],
  ],
  ['\u001B[99;5u\u001B[98;3u\u001B[97;69u\u001B[57414u', ['ctrl+c', 'alt+b', 'ctrl+a', 'enter']],
  ['\u001B[97;2u\u001B[97:65;2u\u001B[228u', ['"A"', '"A"', '"ä"']],
  ['\u001B[97;5:3u\u001B[1;1:3A\u001B[97;9u\u001B[57358u', []],
  // As xterm tells them with modifyOtherKeys.
  ['\u001B[27;2;13~\u001B[27;5;99~\u001B[27;2;65~', ['shift+enter', 'ctrl+c', '"A"']],
  // Not keys.
  ['\u001B[?1;2c\u001B[20~\u001B[99999999u\u001B[12;34Rx', ['"x"']],
  ['\u0085a\u009Bb', ['"a"', '"b"']],
  ['\u001B[200~one\rtwo\u001B[A\u001B[201~x', ['<one\rtwo\u001B[A>', '"x"']],
]

describe('the keys of a terminal', (it) => {
  it('are known by what is sent for them', () => {
    for (const [sent, keys] of sequences) assert.equal(read(sent), keys, JSON.stringify(sent))
  })

  it('are the same however what is sent is cut up', () => {
    const all = fc.shuffledSubarray([...sequences], { minLength: 1, maxLength: 6 })
    const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(all, cuts, (chosen, lengths) => {
        // Behind a key that is told by its end; a return would take the line feed that follows.
        const sent = chosen.map(([text]) => `${text}.`).join('')
        const reader = new KeyReader()
        const keys: Key[] = []
        for (let at = 0, i = 0; at < sent.length; i++) {
          const piece = sent.slice(at, at + lengths[i % lengths.length]!)
          keys.push(...reader.take(piece))
          at += piece.length
        }
        assert.equal(joined(keys), joined(new KeyReader().take(sent)))
      }),
      { numRuns: someRuns(800), seed: 20_261_123 },
    )
  })

  it('are Esc, or Alt with a bracket, once nothing follows', () => {
    for (const [sent, keys] of [
      ['\u001B', ['escape']],
      ['\u001B\u001B', ['escape', 'escape']],
      ['\u001B[', ['alt+[']],
      ['\u001BO', ['alt+o']],
      ['\u001B[1;', []],
    ] as const) {
      const reader = new KeyReader()
      assert.equal([read(sent), told(reader.take(sent)), reader.isHolding], [[], [], true], sent)
      assert.equal([told(reader.flush()), reader.isHolding], [keys, false], sent)
      assert.equal(told(reader.take('x')), ['"x"'])
    }
  })

  it('come on after a sequence that never ends', () => {
    const reader = new KeyReader()
    const keys = [...reader.take(`\u001B[${'1'.repeat(100)}`), ...reader.take('A\r')]
    assert.is(told(keys).at(-1), 'enter')
    assert.ok(!reader.isHolding)
  })

  it('end a paste that never ends with Ctrl-C, whichever way it is told', () => {
    for (const ctrlC of ['\u0003', '\u001B[99;5u']) {
      const reader = new KeyReader()
      assert.equal(reader.take('\u001B[200~never\rended'), [])
      assert.equal(told(reader.take(ctrlC)), ['ctrl+c'])
    }
  })
})
