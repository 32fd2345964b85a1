import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { decisionsIn } from '../src/decisions.ts'
import { endingOf, writeEnding } from '../src/endings.ts'
import { againId, isAgain, messageIdOf, timesAgain } from '../src/ids.ts'
import { contentOf, readChatInput } from '../src/readChat.ts'

const waits = (kind: string, key: string) => ({ kind, key, callId: key, agentId: 'a', name: 'pay', input: {} })
const agentOf = (...pending: readonly object[]) => ({ id: 'a', pending: () => pending }) as unknown as DrivenAgent
const exchange = { callOf: (_: string, callId: string) => ({ toolCallId: `tool ${callId}` }) } as never

describe('what a client of useChat decided', (it) => {
  const part = (state: string, more: object = {}) => ({ type: 'tool-pay', toolCallId: 'tool k', state, ...more })
  const decided = (kind: string, parts: readonly object[], answers: object = {}) =>
    decisionsIn(agentOf(waits(kind, 'k')), exchange, {
      message: { id: 'm', role: 'assistant', parts } as never,
      answers: answers as never,
    })
  const approval = (more: object) => part('approval-responded', { approval: { id: 'k', ...more } })

  for (const [name, kind, parts, expected] of [
    ['an approval', 'approval', [approval({ approved: true })], { decision: 'approve', how: {} }],
    [
      'one with why',
      'approval',
      [approval({ approved: true, reason: 'ok' })],
      { decision: 'approve', how: { reason: 'ok' } },
    ],
    ['a denial', 'approval', [approval({ approved: false, reason: 5 })], { decision: 'deny', how: {} }],
    ['no word', 'approval', [approval({})], { decision: 'deny', how: {} }],
    ['no word yet', 'approval', [part('approval-requested', { approval: { id: 'k', approved: true } })], undefined],
    [
      'an approval of something else',
      'approval',
      [part('approval-responded', { approval: { id: 'x', approved: true } })],
      undefined,
    ],
    ['an approval of nothing', 'approval', [part('approval-responded')], undefined],
    [
      'the newest of two',
      'approval',
      [approval({ approved: true }), approval({ approved: false })],
      { decision: 'deny', how: {} },
    ],
    ['a result', 'call', [part('output-available', { output: 5 })], { decision: { result: 5 } }],
    ['a result of nothing', 'call', [part('output-available')], { decision: { result: null } }],
    ['a failure', 'call', [part('output-error', { errorText: 'no' })], { decision: { error: 'no' } }],
    ['a failure without words', 'call', [part('output-error')], { decision: { error: 'It failed.' } }],
    ['no result yet', 'call', [part('input-available')], undefined],
    ['an approval, of a call', 'call', [approval({ approved: true })], undefined],
    ['a result, of an approval', 'approval', [part('output-available', { output: 5 })], undefined],
    ['a part that is no call', 'call', [{ ...part('output-available'), type: 'text' }], undefined],
    ['a part of another call', 'call', [{ ...part('output-available'), toolCallId: 'x' }], undefined],
    [
      'a dynamic one',
      'call',
      [{ ...part('output-available', { output: 1 }), type: 'dynamic-tool' }],
      { decision: { result: 1 } },
    ],
    ['a part, of a question', 'question', [part('output-available', { output: 5 })], undefined],
  ] as const)
    it(`is what its parts say of what waits: ${name}`, () =>
      assert.equal(decided(kind, parts), expected === undefined ? [] : [{ callId: 'k', ...expected }]))

  it('is what it answers by key before what its parts say, and of nothing that waits not', () => {
    for (const kind of ['approval', 'question', 'call'])
      assert.equal(decided(kind, [approval({ approved: false })], { k: 'approve', x: 'deny' }), [
        { callId: 'k', decision: 'approve' },
      ])
    assert.equal(decisionsIn(agentOf(), exchange, { message: undefined, answers: { k: 'approve' } }), [])
    const grant = { rule: 'pay', scope: 'session' } as const
    const ruled = { k: { decision: 'deny', grant } } as const
    assert.equal(decisionsIn(agentOf(waits('approval', 'k')), undefined, { message: undefined, answers: ruled }), [
      { callId: 'k', decision: 'deny', how: { grant } },
    ])
    assert.equal(decisionsIn(agentOf(waits('call', 'k')), undefined, { message: undefined, answers: {} }), [])
  })
})

describe('the end of an answer', (it) => {
  const error = { code: 'X', message: 'no' }
  const of = (end?: object) => endingOf({ end } as never)
  it('is as its last run ended', () => {
    const aborted = { finishReason: 'interrupted', isAborted: true }
    assert.equal(of(), aborted)
    assert.equal(of({ stopReason: 'aborted', error }), aborted)
    assert.is(of({ stopReason: 'error', error }).error, 'no')
    assert.is(of({ stopReason: 'error' }).error, 'The run failed.')
    assert.is(of({ stopReason: 'paused', error }).error, 'no')
    assert.is(of({ stopReason: 'paused' }).error, undefined)
    assert.is(of({ stopReason: 'stop', error }).error, undefined)
  })

  it('is told with what is known of the message, before an error too', () => {
    const written = (ending: object, metadata?: object) => {
      const chunks: { type: string }[] = []
      writeEnding(ending as never, metadata === undefined ? undefined : ({ metadata } as never), {
        write: (chunk) => void chunks.push(chunk),
      })
      return chunks.map(({ type, ...more }) => ('messageMetadata' in more ? `${type} +` : type))
    }
    assert.equal(written({ finishReason: 'stop' }), ['finish'])
    assert.equal(written({ finishReason: 'stop' }, {}), ['finish +'])
    assert.equal(written({ finishReason: 'error', error: 'x' }, {}), ['message-metadata +', 'error', 'finish +'])
    assert.equal(written({ finishReason: 'error', error: 'x' }), ['error', 'finish'])
    assert.equal(written({ finishReason: 'interrupted', isAborted: true }, {}), ['abort', 'finish +'])
  })
})

describe('a message of useChat', (it) => {
  const content = (...parts: readonly object[]) => contentOf({ id: 'm', role: 'user', parts } as never)
  const file = (mediaType: string, url: string, more: object = {}) => ({ type: 'file', mediaType, url, ...more })
  it('is its texts and files, without what means nothing to an agent', () => {
    const data = 'data:application/pdf;base64,AAAA'
    assert.equal(
      content({ type: 'text', text: 'hi' }, { type: 'text', text: '' }, { type: 'text' }, { type: 'data-x' }),
      [{ type: 'text', text: 'hi' }],
    )
    assert.equal(content(file('image/png', 'https://x/a.png')), [
      { type: 'image', url: 'https://x/a.png', mimeType: 'image/png' },
    ])
    for (const mediaType of ['image', 'image/*'])
      assert.equal(content(file(mediaType, 'https://x/a')), [{ type: 'image', url: 'https://x/a' }])
    assert.equal(content(file('application/pdf', data)), [{ type: 'file', data, mimeType: 'application/pdf' }])
    assert.equal(content(file('application/pdf', data, { filename: 'a' })), [
      { type: 'file', data, mimeType: 'application/pdf', name: 'a' },
    ])
    assert.throws(() => content(file('application/pdf', 'https://x/a.pdf')), withCode('INVALID_CONTENT'))
    assert.throws(() => content({ type: 'file', url: 'x' }), withCode('INVALID_CONTENT'))
  })

  it('has an id of at most 256 characters, and is one of a known role', () => {
    const read = (more: object) =>
      readChatInput({ id: 'chat', messages: [{ id: 'm', role: 'user', parts: [], ...more }] })
    read({ id: 'x'.repeat(256) })
    for (const more of [{ id: 'x'.repeat(257) }, { id: 5 }, { role: 'tool' }, { parts: 'x' }, { parts: [{}] }])
      assert.throws(() => read(more), withCode('BRIDGE_FRAME'))
    assert.throws(() => readChatInput({ id: 'chat', messages: [] }), withCode('BRIDGE_FRAME'))
    assert.throws(
      () => readChatInput({ id: 'a b/', messages: [{ id: 'm', role: 'user', parts: [] }] }),
      withCode('INVALID_ID'),
    )
  })

  it('is answered again under ids of their own, of the same message', () => {
    const [one, two] = [againId('m1', 1), againId(againId('m1', 1), 2)]
    assert.equal([messageIdOf(one), messageIdOf(two), messageIdOf('m1')], ['m1', 'm1', 'm1'])
    assert.equal([timesAgain('m1'), timesAgain(one), timesAgain(two)], [0, 1, 2])
    assert.equal([isAgain('m1'), isAgain(two), one === two], [false, true, false])
  })
})
