import { redactionMark } from '../../../src/log/redaction/blankSecrets.ts'
import { blankPart, blankRequest } from '../../evaluation/src/testing/blankRecording.ts'
import { knownKeys } from '../src/knownKeys.ts'
import { lastWords, notTooLong, openKey, overlap } from '../src/openEnds.ts'
import { Redactor } from '../src/redactor.ts'
import { withoutOpenEscape } from '../src/undoEscapes.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const stretches = (text: string): string[] => [...knownKeys(text)].map(([start, end]) => text.slice(start, end))

describe('keys of a known shape', (it) => {
  const part = (char: string, length = 12): string => char.repeat(length)
  const token = (first: string, second: string, third: string): string => `eyJ${first}.eyJ${second}.${third}`

  it('are web tokens of three parts, each found once and whole, wherever it stands', () => {
    const whole = token(part('a'), part('b'), part('c', 20))
    const other = token(part('d'), part('e'), 'f')
    for (const [text, found] of [
      [whole, [whole]],
      [`x ${whole}`, [whole]],
      [`(${whole})`, [whole]],
      [`${whole} ${other}`, [whole, other]],
      [`${whole}.${other}`, [whole, other]],
      [`${whole},${whole}`, [whole, whole]],
      [`pre-${whole}`, [whole]],
      // A second part that belongs to no first.
      [`.eyJ${part('b')}.${part('c')}`, []],
      [`eyJ${part('a', 9)}.eyJ${part('b')}.c`, []],
      [`eyJ${part('a', 10)}.eyJ${part('b', 9)}.c`, []],
      [`xeyJ${part('a', 10)}.eyJ${part('b', 10)}.c`, []],
      [`${whole.slice(0, whole.lastIndexOf('.'))} rest`, []],
      // Of four parts the first three are a token, and what follows is none.
      [`${whole}.eyJ${part('z')}.end`, [whole]],
    ] as const)
      assert.equal(stretches(text), [...found], text)
  })

  it('have at least so many characters, and where words look alike a digit', () => {
    for (const [text, isKey] of [
      ['sk-abcdefghijklmno1', true],
      ['sk-abcdefghijklmn1', false],
      ['sk-abcdefghijklmnop', false],
      [`AIza${part('x', 30)}`, true],
      [`AIza${part('x', 29)}`, false],
      [`AKIA${part('A', 16)}`, true],
      [`AKIA${part('A', 17)}`, false],
      ['ghp_abcdefghijklmno1', true],
      [`Bearer ${part('a', 19)}1`, true],
      [`Bearer ${part('a', 18)}1`, false],
    ] as const)
      assert.equal(stretches(` ${text} `), isKey ? [text] : [], text)
  })

  it('are private keys, whole or without their beginning or end', () => {
    const line = part('A', 64)
    const [begin, end] = ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----']
    const key = `${begin}\n${line}\nQQ==\n${end}`
    for (const [text, found] of [
      [`a\n${key}\nb`, [key]],
      [`${key}\nmiddle\n${key}`, [key, key]],
      [`text\n${line}\nQQ==\n${end} b`, [`${line}\nQQ==\n${end}`]],
      [`a ${begin}\n${line}`, [`${begin}\n${line}`]],
      [`${key}\nb ${begin}\n${line}`, [key, `${begin}\n${line}`]],
      // A short line ends it: only the last may be short.
      [`short\n${line}\n${end}`, [`${line}\n${end}`]],
      [`${part('A', 39)}\nQQ==\n${end}`, [`QQ==\n${end}`]],
      [`${part('A', 40)}\nQQ==\n${end}`, [`${part('A', 40)}\nQQ==\n${end}`]],
    ] as const)
      assert.equal(stretches(text), [...found], text)
  })
})

describe('the end of a text that may still become a secret', (it) => {
  it('is its longest one, short of all', () => {
    for (let size = 0; size <= 6; size += 1)
      for (const before of ['', 'x', 'sec', 'secsec'.slice(0, 5)]) {
        const text = before + 'secret'.slice(0, size)
        let longest = 0
        for (let n = 1; n < 6; n += 1) if (text.endsWith('secret'.slice(0, n))) longest = n
        assert.is(overlap(text, 'secret'), longest, text)
      }
  })

  it('begins with its run of characters, the word before it and the lines of a key', () => {
    for (const [text, open] of [
      ['all is well, ', ''],
      ['use sk-abc', 'sk-abc'],
      ['Bearer abc', 'Bearer abc'],
      ['Bearer ', 'Bearer '],
      ['say Bearer\n abc', 'Bearer\n abc'],
      ['Bearer', 'Bearer'],
      ['Bearer abc def', 'def'],
      ['a -----BEGIN PRIV', '-----BEGIN PRIV'],
      ['a -----OTHER THING', 'THING'],
    ] as const)
      assert.is(text.slice(openKey(text)), open, JSON.stringify(text))
    const line = 'A'.repeat(64)
    assert.is(openKey(`a\n${line}\n${line}\nAB`), 2)
    assert.is(openKey(`${line}\n-----END PRIV`), 0)
  })

  it('is cut to its end where it is very long', () => {
    for (const [length, from, held] of [
      [16_384, 0, 0],
      [16_385, 0, 16_385 - 512],
      [20_000, 3_616, 3_616],
      [20_000, 3_615, 20_000 - 512],
    ] as const)
      assert.is(notTooLong('x'.repeat(length), from), held)
  })

  it('is two words at most for patterns', () => {
    for (const [text, words] of [
      ['', ''],
      ['one', 'one'],
      ['one two', 'one two'],
      ['one two three', 'two three'],
      ['one two  three  ', 'two  three  '],
      ['  ', '  '],
    ] as const)
      assert.is(text.slice(lastWords(text)), words, JSON.stringify(text))
  })

  it('has no escape that may grow', () => {
    for (const [text, closed] of [
      ['a\\', 'a'],
      ['a\\\\', 'a'],
      ['a\\u', 'a'],
      ['a\\u00e', 'a'],
      ['a\\u00e9', 'a\\u00e9'],
      ['a\\x', 'a'],
      ['a\\xe', 'a'],
      ['a\\xe9', 'a\\xe9'],
      ['a\\n', 'a\\n'],
      ['a\\ue', 'a'],
      ['au00', 'au00'],
      ['a\\ab', 'a\\ab'],
      ['a\\xu', 'a\\xu'],
    ] as const)
      assert.is(withoutOpenEscape(text), closed, JSON.stringify(text))
  })
})

describe('blanking what is named', (it) => {
  const secret = 'the-very-secret'
  const redactor = new Redactor({ secrets: { A: secret } })
  const base64 = (text: string): string => Buffer.from(text).toString('base64')

  it('reaches into files of text, and leaves what has nothing as it is', () => {
    const file = (text: string, more: object = {}) => ({
      type: 'file',
      mimeType: 'text/plain',
      data: base64(text),
      ...more,
    })
    const clean = file('nothing here')
    assert.is(redactor.value(clean), clean)
    assert.equal(redactor.value(file(`it is ${secret}.`)), file('it is [redacted:A].'))
    assert.equal(
      redactor.value(file(`it is ${secret}.`, { name: secret })),
      file('it is [redacted:A].', { name: '[redacted:A]' }),
    )
    assert.equal(redactor.value(file('nothing', { name: secret })), file('nothing', { name: '[redacted:A]' }))
    const bytes = { type: 'file', mimeType: 'application/pdf', data: base64(`%PDF ${secret}`) }
    assert.is(redactor.value(bytes), bytes)
  })

  it('takes for a file what is one in every field, and everything else for what it is', () => {
    const whole = { type: 'file', mimeType: 'text/plain', data: base64(`x ${secret}`) }
    for (const odd of [
      { ...whole, type: 'image' },
      { ...whole, type: undefined },
      { ...whole, mimeType: undefined },
      { ...whole, mimeType: 7 },
      { type: 'file', mimeType: 'text/plain' },
      { ...whole, data: 7 },
      { ...whole, data: null },
      { ...whole, data: { deep: 'x' } },
    ])
      assert.equal(redactor.value(odd), odd)
    assert.equal(redactor.value({ ...whole, data: { deep: secret } }), { ...whole, data: { deep: '[redacted:A]' } })
  })

  it('finds a secret that is spread over texts, whatever stands between them', () => {
    const text = (said: string, more: object = {}) => ({ type: 'text', text: said, ...more })
    const [head, tail] = [secret.slice(0, 7), secret.slice(7)]
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    assert.equal(redactor.value([text(`a ${head}`), image, text(`${tail} b`)]), [
      text('a [redacted:A]'),
      image,
      text('[redacted:A] b'),
    ])
    for (const odd of [null, 'text', 7, { type: 'text' }, { type: 'text', text: 7 }, { text: 'x' }])
      assert.equal(redactor.value([text(head), odd, text(tail)]), [text('[redacted:A]'), odd, text('[redacted:A]')])
    const items = [text('a'), text('b')]
    assert.is(redactor.value(items), items)
  })

  it('says once whose a secret is that is added twice, and knows none that is too short', () => {
    const one = new Redactor({})
    one.add('A', ['secret', 'secret', 'short'])
    one.add('B', ['secret', 'another'])
    assert.is(one.text('secret another short'), '[redacted:A] [redacted:B] short')
  })
})

describe('blanking what looks like a secret in requests and errors', (it) => {
  it('blanks texts and objects under such names, every header, and nothing else', () => {
    const settings = (providerOptions: object) =>
      blankRequest({ system: '', messages: [], tools: [], settings: { providerOptions } } as never).settings
        .providerOptions as object
    const mark = redactionMark
    for (const [given, blank] of [
      [{ p: { apiKey: 'x' } }, { p: { apiKey: mark } }],
      [{ p: { apiKey: { a: 1 } } }, { p: { apiKey: mark } }],
      [{ p: { budgetTokens: 5, secret: null, auth: true } }, { p: { budgetTokens: 5, secret: null, auth: true } }],
      [{ p: { headers: { a: 'x', b: { c: 1 } } } }, { p: { headers: { a: mark, b: mark } } }],
      [{ p: { Headers: ['a'] } }, { p: { Headers: mark } }],
      [{ p: { headers: null } }, { p: { headers: mark } }],
      [{ p: { headers: 'a: b' } }, { p: { headers: mark } }],
      [{ p: { list: [{ token: 'x' }, 'sk-abcdef', 7] } }, { p: { list: [{ token: mark }, mark, 7] } }],
    ] as const)
      assert.equal(settings(given), blank)
    const bare = { system: '', messages: [], tools: [], settings: {} } as never
    assert.is(blankRequest(bare), bare)
  })

  it('blanks the errors of parts, and takes any other part as it is', () => {
    const error = { kind: 'auth', message: 'bad key sk-abcdefgh' }
    assert.equal(blankPart({ type: 'error', error } as never), {
      type: 'error',
      error: { kind: 'auth', message: `bad key ${redactionMark}` },
    })
    assert.equal(blankPart({ type: 'model', model: 'm', after: error } as never), {
      type: 'model',
      model: 'm',
      after: { kind: 'auth', message: `bad key ${redactionMark}` },
    })
    for (const part of [
      undefined,
      null,
      { type: 'error' },
      { type: 'error', error: {} },
      { type: 'error', error: { message: 7 } },
      { type: 'model', model: 'm' },
      { type: 'model', after: { message: 7 } },
      { type: 'text.delta', text: 'sk-abcdefgh', error },
    ])
      assert.is(blankPart(part as never), part)
  })
})
