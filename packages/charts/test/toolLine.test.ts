import { callLine, knownOutcome, outcomeLine } from '../src/toolLine.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const message = (text: string, more: object = {}) =>
  ({ role: 'toolResult', callId: 'c', content: [{ type: 'text', text }], isError: false, ...more }) as never

describe('a call in a few words', (it) => {
  it('has its arguments, and nothing where there are none', () => {
    assert.is(callLine('run_tests', {}), 'run_tests')
    assert.is(callLine('look', { at: 1 }), 'look {"at":1}')
    assert.is(callLine('ask', { task: 'Why?' }), 'ask Why?')
    assert.is(callLine('odd', undefined), 'odd')
  })

  it('has the outcome of a tool that is known, and of no other', () => {
    assert.is(knownOutcome({ name: 'read_file', message: message('a\nb\nc') }), '3 lines')
    assert.is(knownOutcome({ name: 'read_page', message: message('a\nb\nc') }), undefined)
    assert.is(knownOutcome({ name: 'read_file', message: message('no such file', { isError: true }) }), undefined)
    assert.is(knownOutcome({ name: 'read_file', message: message('no', { synthetic: 'denied' }) }), undefined)
    assert.is(outcomeLine({ name: 'read_page', message: message('a\nb') }), 'a')
  })
})
