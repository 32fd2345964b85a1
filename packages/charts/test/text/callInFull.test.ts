import * as fc from 'fast-check'
import { callAsText, callInFull } from '../../src/text/callInFull.ts'
import { visible } from '../../src/text/visible.ts'
import { sameJson } from '../../../../src/protocol/checks/sameJson.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** Original of a text that `visible` has named characters in. */
const readVisible = (text: string): string =>
  text.replace(/⟨(?:(tab)|U\+([0-9A-F]+)|(\d+) spaces?)⟩/g, (_, tab?: string, code?: string, spaces?: string) =>
    tab !== undefined
      ? '\t'
      : code !== undefined
        ? String.fromCodePoint(Number.parseInt(code, 16))
        : ' '.repeat(Number(spaces)),
  )

/** The arguments that rows tell of: if they can be read back, nothing is missing and no two look the same. */
function readRows(rows: readonly string[]): unknown {
  if (rows[0] === '(no arguments)') return undefined
  const fields: [string, unknown][] = []
  for (let at = 0; at < rows.length;) {
    const [, name, said] = /^((?:[A-Za-z_$][\w$-]*|"(?:[^"\\]|\\.)*"): )?(.*)$/s.exec(rows[at++]!)!
    const block: string[] = []
    for (; rows[at]?.startsWith('│') === true; at++) {
      const line = rows[at]!.slice(2)
      const [, empty] = /^⟨(\d+) empty lines⟩$/.exec(line) ?? []
      block.push(...(empty === undefined ? [readVisible(line)] : Array.from({ length: Number(empty) }, () => '')))
    }
    const value = said!.startsWith('text of')
      ? block.join('\n')
      : (JSON.parse(said!.startsWith('JSON of') ? block.join('\n') : readVisible(said!)) as unknown)
    if (name === undefined) return value
    const key = readVisible(name.slice(0, -2))
    fields.push([key.startsWith('"') ? (JSON.parse(key) as string) : key, value])
  }
  return Object.fromEntries(fields)
}

const odd = [
  '\u202E',
  '\u200B',
  '\u2066',
  '\u00A0',
  '\u0085',
  '\u2028',
  '\uD800',
  '\uFEFF',
  '\u0301',
  'é',
  'а',
  'ｒ',
  '−',
  '⟨',
  '⟩',
  '│',
  '╎',
  '\n',
  '\t',
  '\r',
  '\u0007',
  ' ',
  '"',
  '\\',
  ':',
  'text of 1 line',
  'U+202E',
  '\u{E0041}',
  '日',
  '🎉',
  'Ж',
  'ע',
  '1',
]
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.array(fc.constantFrom(...odd, 'a', 'b'), { maxLength: 40 }).map((parts) => parts.join('')),
  fc.array(fc.constantFrom('\n', ' ', 'x'), { maxLength: 60 }).map((parts) => parts.join('')),
  fc.string({ minLength: 150, maxLength: 300 }),
)
const key = fc.oneof(fc.constantFrom('a', 'b', 'command', 'path', '__proto__'), text)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(key, tie('any'), { maxKeys: 4 }),
  ),
})).any
const input = fc.oneof(fc.dictionary(key, value, { maxKeys: 5 }), value)

/** Characters of which no reader sees that they are there, or which change the place of others. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u

describe('a call in full, for people', (it) => {
  it('lacks nothing, and no two different inputs look the same', () => {
    fc.assert(
      fc.property(input, (given) => {
        const rows = callInFull(given)
        // JSON has no prototypes, and no order of fields.
        return sameJson(JSON.parse(JSON.stringify(readRows(rows))), JSON.parse(JSON.stringify(given)))
      }),
      { seed: 34, numRuns: 1500 },
    )
  })

  it('has no character that is not seen, and no row that hides a line break', () => {
    fc.assert(
      fc.property(input, (given) => callInFull(given).every((row) => !unseen.test(row) && !/ {20}| $/.test(row))),
      { seed: 34, numRuns: 1500 },
    )
  })

  it('marks every row of a long text, and counts empty ones', () => {
    const command = `echo OWNED > owned.txt${'\n'.repeat(45)}  ? read_file: {"path":"README.md"}`
    assert.equal(callInFull({ command }), [
      'command: text of 46 lines, 102 characters',
      '│ echo OWNED > owned.txt',
      '│ ⟨44 empty lines⟩',
      '│   ? read_file: {"path":"README.md"}',
    ])
    const said = callAsText({ command: command.repeat(3) }).split('\n')
    assert.ok(said[0] === '' && said.slice(1).every((row) => row.startsWith('> ')))
    assert.equal([callAsText({ a: 1 }), callAsText({ a: '\u202E' })], [' {"a":1}', '\n> a: "⟨U+202E⟩"'])
  })

  it('has what is short first', () => {
    const reason = 'Arrived broken; the customer sent pictures, and wants all of the money back at once.'
    assert.equal(callInFull({ order: 'A-17', reason, eur: 129.9 }), [
      'order: "A-17"',
      'eur: 129.9',
      `reason: "${reason}"`,
    ])
    assert.equal(
      [callInFull({}), callInFull([]), callInFull(undefined), callInFull(null), callInFull('x')],
      [['{}'], ['[]'], ['(no arguments)'], ['null'], ['"x"']],
    )
  })
})

describe('a text of which all is seen', (it) => {
  it('names letters that pass for others, and leaves words of other scripts', () => {
    assert.is(visible('rm /etc/p\u0430sswd'), 'rm /etc/p⟨U+0430⟩sswd')
    // Of one script, but like Latin words.
    for (const word of ['\u0441\u043E\u0440\u0435', '\u0391\u0392', '\uFF52\uFF4D', '\u{1D42B}', '\u04CF'])
      assert.match(visible(word), /^(?:⟨U\+[0-9A-F]+⟩)+$/)
    for (const words of [
      'Привет, мир',
      'Wörter für Łódź',
      'Nguyễn',
      '日本語 カタカナ',
      'עברית',
      'ภาษาไทยน้ำ',
      '한국어',
      'हिन्दी',
      'Καλημέρα κόσμε',
      'I don’t — really',
    ])
      assert.is(visible(words), words)
    assert.is(visible('e\u0301 \u00E9'), 'e⟨U+0301⟩ é')
    assert.is(visible('rm \u05D0/\u05D1'), 'rm ⟨U+05D0⟩/⟨U+05D1⟩')
    assert.is(visible('a \u2212rf \u2018x\u2019 \u2013'), 'a ⟨U+2212⟩rf ⟨U+2018⟩x⟨U+2019⟩ ⟨U+2013⟩')
  })

  it('has spaces that are counted where they are not seen', () => {
    assert.is(visible(`a${' '.repeat(500)}b  \nc `), 'a⟨500 spaces⟩b⟨2 spaces⟩\nc⟨1 space⟩')
    assert.is(visible('  a  b'), '  a  b')
  })

  it('takes time in proportion to its length', () => {
    for (const part of [' ', 'a ', '\u0430', '\u0301', '⟨', '\u05D0 1'])
      assert.ok(visible(part.repeat(100_000)).length > 0)
  })
})
