import { RedactedStream } from '../src/redactedStream.ts'
import { assert, describe } from '../../../test/support/suite.ts'

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
