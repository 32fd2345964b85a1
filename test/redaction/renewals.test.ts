import { Redactor } from '../../src/log/redaction/redactor.ts'
import { RedactedStream } from '../../src/log/redaction/redactedStream.ts'
import { assert, describe } from '../support/suite.ts'

const token = (index: number): string => `tok-${String(index).padStart(6, '0')}-x`

describe('secrets that are renewed', (it) => {
  for (const count of [1, 255, 256, 257, 400])
    for (const together of [1, 3])
      it(`are blanked, the newest of them: ${count}, ${together} at a time`, () => {
        const redactor = new Redactor({ knownKeys: false })
        for (let at = 0; at < count; at += together)
          redactor.renew(
            'T',
            Array.from({ length: Math.min(together, count - at) }, (_, index) => token(at + index)),
          )
        const newest = Array.from({ length: Math.min(count, 256) }, (_, index) => token(count - 1 - index))
        for (const each of newest) assert.is(redactor.text(`is ${each} so`), 'is [redacted:T] so')
      })
})

describe('a thought', (it) => {
  const redactor = new Redactor({ secrets: { KEY: 'hunter22' }, knownKeys: false })
  const thought = (text: string) => ({ type: 'thinking', text, signature: 's' })

  it('keeps its signature only with the words that were signed', () => {
    assert.equal(redactor.value({ content: [thought('quiet'), thought('it is hunter22')] }), {
      content: [thought('quiet'), { type: 'thinking', text: 'it is [redacted:KEY]' }],
    })
  })

  it('in what is not the runtime’s own is data like any other', () => {
    const input = thought('it is hunter22')
    assert.equal(redactor.value({ input }), { input: { ...input, text: 'it is [redacted:KEY]' } })
  })
})

describe('text that comes in pieces', (it) => {
  it('comes at once again after some of it was held back for long', () => {
    let settled = 0
    const stream = new RedactedStream({ settled: () => settled, text: (text, { from, to }) => text.slice(from, to) })
    let given = ''
    for (let piece = 0; piece < 400; piece += 1) given += stream.push('x')?.text ?? ''
    assert.is(given, '')
    settled = Infinity
    stream.push('x'.repeat(200))
    for (const text of ['a', 'b', 'c']) {
      settled = 1
      assert.is(stream.push(text)?.text, text)
    }
  })
})
