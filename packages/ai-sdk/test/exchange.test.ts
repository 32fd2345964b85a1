import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { Exchange } from '../src/exchange.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { begun, delta, ended, event, folded, partsOf, reply, step, text, toolCall, toolEnd } from './chatEvents.ts'

describe('a reply that grows in a chat', (it) => {
  it('is shown as texts, each kind by itself, and without what is still growing for who loads it', () => {
    const { exchange, take } = folded(begun, event('turn.start'), event('reply.start'))
    take(delta('thinking.delta', 'hm', 0), delta('thinking.delta', 'm', 2), delta('reply.delta', '', 0))
    take(delta('reply.delta', 'He', 0), delta('reply.delta', 'llo', 2))
    take(event('toolCall.delta', { callId: 'c1', name: 'look', text: '{' }))
    assert.equal(partsOf(exchange), [
      step,
      { type: 'reasoning', id: 'r1', text: 'hmm' },
      { type: 'text', text: 'Hello' },
    ])
    assert.equal(partsOf(exchange, false), [step])
  })

  it('says nothing once a piece of it is missing', () => {
    for (const missing of [
      delta('reply.delta', 'y', 7),
      delta('thinking.delta', 'y', 7),
      delta('reply.delta', 'y', 0),
    ]) {
      const { exchange, take } = folded(begun, event('reply.start'), delta('reply.delta', 'x', 0), missing)
      take(delta('reply.delta', 'z', 0), event('toolCall.delta', { callId: 'c1', name: 'look', text: '{' }))
      assert.equal(exchange.entries, [])
    }
  })

  it('whose beginning was not seen is shown from its beginning alone', () => {
    const late = folded(begun, delta('reply.delta', 'llo', 2), delta('reply.delta', '!', 5))
    assert.equal(partsOf(late.exchange), [])
    const whole = folded(begun, delta('reply.delta', 'He', 0), delta('reply.delta', 'llo', 2))
    assert.equal(partsOf(whole.exchange), [{ type: 'text', text: 'Hello' }])
  })

  it('grows calls by their ids; one whose name is not known cannot be shown', () => {
    const of = (callId: string, words: string, name?: string): AgentEvent =>
      event('toolCall.delta', { callId, text: words, ...(name === undefined ? {} : { name }) })
    const { exchange, take } = folded(begun, of('c0', '{', 'look'))
    assert.equal(exchange.entries, [])
    take(event('reply.start'), of('c1', '{', 'look'), of('c2', '[', 'find'), of('c1', '}'), of('c2', ']'))
    assert.equal(exchange.entries, [
      { type: 'growing', of: 'call', pieces: ['{', '}'], toolCallId: 'c1', toolName: 'look' },
      { type: 'growing', of: 'call', pieces: ['[', ']'], toolCallId: 'c2', toolName: 'find' },
    ])
    take(of('c3', '{'), of('c1', ' '), delta('reply.delta', 'x', 0))
    assert.equal(exchange.entries, [])
  })

  it('is void once it is begun anew, reset, or its run has ended', () => {
    for (const over of [event('reply.start'), event('reply.reset'), ended('aborted', 0)]) {
      const { exchange } = folded(begun, event('turn.start'), event('reply.start'), delta('reply.delta', 'x', 0), over)
      assert.equal(partsOf(exchange), [step])
    }
  })

  it('is taken up by who comes in the middle, if something of it is known', () => {
    const { fold, exchange, take } = folded(begun)
    fold.takeGrowing(undefined)
    assert.equal(partsOf(exchange), [])
    fold.takeGrowing({ attempt: 0, text: 'He', thinking: 'hm' } as never)
    take(delta('reply.delta', 'llo', 2), delta('thinking.delta', '!', 2))
    assert.equal(partsOf(exchange), [
      { type: 'reasoning', id: 'r0', text: 'hm' },
      { type: 'text', text: 'Hello' },
      { type: 'reasoning', id: 'r2', text: '!' },
    ])
  })

  it('that ends is in a step of its own, whether its turn was seen to begin or not', () => {
    for (const before of [[], [event('turn.start')]])
      assert.equal(partsOf(folded(begun, ...before, reply(text('Hello'))).exchange), [
        step,
        { type: 'text', text: 'Hello', state: 'done' },
      ])
  })
})

describe('calls in a chat', (it) => {
  const asked = event('approval.requested', { callId: 'c1', key: 'k1', name: 'look', input: { by: 'us' } })
  const decided = (decision: string, reason?: string): AgentEvent =>
    event('approval.decided', { callId: 'c1', key: 'k1', decision, ...(reason === undefined ? {} : { reason }) })
  const lastOf = ({ exchange }: { readonly exchange: Exchange }): unknown => {
    const {
      toolName: _,
      toolCallId: __,
      type: ___,
      ...part
    } = exchange.entries.at(-1) as never as Record<string, unknown>
    return part
  }

  const ends: readonly (readonly [what: string, events: readonly AgentEvent[], part: object])[] = [
    ['that is asked about', [asked], { state: 'approval-requested', input: { by: 'us' }, approval: { id: 'k1' } }],
    [
      'that is approved',
      [asked, decided('approve')],
      { state: 'approval-responded', input: { by: 'us' }, approval: { id: 'k1', approved: true } },
    ],
    [
      'that is denied, with why',
      [asked, decided('deny', 'No.')],
      { state: 'approval-responded', input: { by: 'us' }, approval: { id: 'k1', approved: false, reason: 'No.' } },
    ],
    [
      'that was denied',
      [asked, decided('deny'), toolEnd('c1', 'denied')],
      { state: 'output-denied', input: { by: 'us' }, approval: { id: 'k1', approved: false } },
    ],
    [
      'that gave the application data',
      [asked, decided('approve'), { ...toolEnd('c1', 'saved'), data: { id: 'x' } } as AgentEvent],
      { state: 'output-available', input: { by: 'us' }, output: { id: 'x' }, approval: { id: 'k1', approved: true } },
    ],
    [
      'that was approved, and ended',
      [asked, decided('approve'), toolEnd('c1', '{"a":1}')],
      { state: 'output-available', input: { by: 'us' }, output: { a: 1 }, approval: { id: 'k1', approved: true } },
    ],
    [
      'that was aborted before it was decided',
      [
        asked,
        event('tool.end', {
          callId: 'c1',
          message: {
            role: 'toolResult',
            callId: 'c1',
            toolName: 'look',
            content: [text('aborted'), { type: 'image', data: '', mimeType: 'image/png' }],
            isError: true,
          },
        }),
      ],
      { state: 'output-error', input: { by: 'us' }, errorText: 'aborted[image]', approval: { id: 'k1' } },
    ],
    [
      'that a client carries out, with its arguments',
      [event('call.requested', { callId: 'c1', input: { x: 1 } })],
      { state: 'input-available', input: { x: 1 } },
    ],
    [
      'of another decision, as it was',
      [event('approval.decided', { key: 'k2', decision: 'approve' })],
      { state: 'input-available', input: {} },
    ],
  ]
  for (const [what, events, part] of ends)
    it(`show one ${what}`, () => assert.equal(lastOf(folded(begun, reply(toolCall('c1')), ...events)), part))

  it('are numbered where an id comes twice, and what comes of it goes to the newest', () => {
    const { exchange } = folded(
      begun,
      reply(toolCall('c1')),
      toolEnd('c1', 'one'),
      reply(toolCall('c1')),
      toolEnd('c1', 'two'),
    )
    assert.equal(
      exchange.entries.flatMap((entry) => ('output' in entry ? [[entry.toolCallId, entry.output]] : [])),
      [
        ['c1', 'one'],
        ['c1~2', 'two'],
      ],
    )
  })

  it('of agents below are shown when people are asked about them, in a step of such, and end with their agent', () => {
    const below = { agentId: 'a.1', path: ['a'] }
    const deeper = { agentId: 'a.1.1', path: ['a', 'a.1'] }
    const asks = (at: object, key: string): AgentEvent =>
      event('approval.requested', { ...at, callId: 'c1', key, name: 'pay', input: {} })
    const { exchange, take } = folded(
      begun,
      reply(toolCall('c0')),
      event('tool.start', { callId: 'c0', childId: 'a.1' }),
      asks(below, 'k1'),
      asks(deeper, 'k2'),
      event('tool.end', { ...below, callId: 'other', message: { content: [], isError: false } }),
    )
    take(event('approval.requested', { agentId: 'b.1', path: ['b'], callId: 'c9', key: 'k9', name: 'pay', input: {} }))
    const states = () => exchange.entries.map((entry) => ('state' in entry ? entry.state : entry.type))
    assert.equal(states(), ['step-start', 'input-available', 'step-start', 'approval-requested', 'approval-requested'])
    take(toolEnd('c1', 'paid', below))
    assert.is(states()[3], 'output-available')
    // One of an older call with its id is another.
    take(asks(below, 'k3'))
    assert.is(states()[5], 'approval-requested')
    take(toolEnd('c0', 'done'))
    assert.equal(states(), [
      'step-start',
      'output-available',
      'step-start',
      'output-available',
      'output-error',
      'output-error',
    ])
  })
})
