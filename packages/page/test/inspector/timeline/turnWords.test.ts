import type { Span } from '../../../src/inspector/model/timeline/span.ts'
import { turnWords } from '../../../src/inspector/model/timeline/turnWords.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const span = (kind: Span['kind'], name: string, from: number, to: number, rest: Partial<Span> = {}): Span => ({
  key: `${kind} ${name} ${from}`,
  kind,
  seq: from,
  endSeq: to,
  time: from,
  from,
  to,
  name,
  words: '',
  parts: [],
  inside: [],
  waitedMs: 0,
  costUsd: 0,
  ...rest,
})
const reply = span('reply', 'reply', 1, 3, { words: 'I deploy.' })

describe('what a turn did', (it) => {
  it('is the tools that it called, how often, and which failed', () => {
    const calls = ['look', 'test', 'look'].map((name, at) => span('call', name, 3 + at, 6 + at))
    const inside = [reply, ...calls, span('call', 'test', 6, 9, { error: 'exit code 1' })]
    assert.is(turnWords({ inside }), 'look ×2 · test ×2 ✕')
    const many = Array.from({ length: 7 }, (_, at) => span('call', `t${at}`, 3, 4))
    assert.is(turnWords({ inside: many }), 't0 · t1 · t2 · t3 · t4 · 2 more')
  })

  it('is what it said where it called nothing', () => {
    assert.is(turnWords({ inside: [reply] }), 'I deploy.')
    assert.is(turnWords({ inside: [] }), '')
  })

  it('has nothing that came after the moment that is shown', () => {
    const inside = [reply, span('call', 'look', 4, 5), span('call', 'test', 6, 9, { error: 'exit code 1' })]
    assert.equal(
      [2, 3, 4, 6, 9, null].map((until) => turnWords({ inside }, until)),
      ['', 'I deploy.', 'look', 'look · test', 'look · test ✕', 'look · test ✕'],
    )
  })
})
