import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { Block } from '../../../src/protocol/messages.ts'
import type { Exchange } from '../../../src/server/aiSdkUi/exchange.ts'
import { UiFold } from '../../../src/server/aiSdkUi/uiFold.ts'
import { assert, describe } from '../../support/suite.ts'

/** An event of agent `a`, or of one that `more` names. */
const event = (type: string, more: object = {}): AgentEvent =>
  ({ type, agentId: 'a', path: [], seq: 1, time: 1, runId: 'r', turnIndex: 0, ...more }) as unknown as AgentEvent
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }
const text = (words: string): Block => ({ type: 'text', text: words })
const toolCall = (callId: string): Block => ({ type: 'toolCall', callId, name: 'look', input: {} })
const user = (nodeId: number, words: string, provenance?: object): AgentEvent =>
  event('message.added', {
    nodeId,
    message: { role: 'user', content: [text(words)], ...(provenance === undefined ? {} : { provenance }) },
  })
const reply = (...content: readonly Block[]): AgentEvent =>
  event('reply.end', { nodeId: 9, message: { role: 'assistant', content } })
const begun = event('run.start', { cause: 'prompt', requestId: 'q', messages: 1 })
const ended = (stopReason: string, costUsd: number): AgentEvent => event('run.end', { stopReason, usage, costUsd })
const toolEnd = (callId: string, words: string, more: object = {}): AgentEvent =>
  event('tool.end', {
    callId,
    message: { role: 'toolResult', callId, toolName: 'look', content: [text(words)], isError: false },
    ...more,
  })

function folded(...events: readonly AgentEvent[]) {
  const before: Exchange[] = []
  const fold = new UiFold('a', before)
  for (const one of events) fold.take(one)
  return {
    fold,
    before,
    exchange: fold.exchange!,
    take: (...more: readonly AgentEvent[]) => more.forEach((one) => fold.take(one)),
  }
}
const partsOf = (exchange: Exchange, growing = true): unknown[] => exchange.message(growing).parts
const delta = (type: string, words: string, offset: number): AgentEvent => event(type, { text: words, offset })
const step = { type: 'step-start' }

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

describe('questions in a chat', (it) => {
  const asked = (more: object = {}): AgentEvent =>
    event('question.asked', {
      callId: 'c1',
      key: 'q1',
      name: 'look',
      input: {},
      question: 'Which?',
      schema: {},
      ...more,
    })
  const answered = (more: object): AgentEvent => event('question.answered', { callId: 'c1', key: 'q1', ...more })
  const dataOf = (...events: readonly AgentEvent[]): Record<string, unknown> => {
    const { exchange } = folded(begun, reply(toolCall('c1')), ...events)
    const found = exchange.entries.filter(({ type }) => type === 'data-question')
    assert.is(found.length, 1)
    return (found[0] as unknown as { data: Record<string, unknown> }).data
  }

  it('wait, are answered, denied, or closed with their call', () => {
    assert.is(dataOf(asked())['status'], 'waiting')
    assert.equal([dataOf(asked())['question'], dataOf(asked())['toolCallId']], ['Which?', 'c1'])
    assert.is(dataOf(asked({ problem: 'No number.' }))['problem'], 'No number.')
    const good = dataOf(asked({ problem: 'No number.' }), answered({ decision: 'answer', value: 7 }))
    assert.equal(
      [good['status'], good['value'], good['problem'], good['question']],
      ['answered', 7, undefined, 'Which?'],
    )
    const denied = dataOf(asked(), answered({ decision: 'deny', reason: 'No.' }))
    assert.equal([denied['status'], denied['reason'], 'value' in denied], ['denied', 'No.', false])
    assert.is(dataOf(asked(), toolEnd('c1', 'late'))['status'], 'closed')
    assert.is(dataOf(asked(), answered({ decision: 'deny' }), toolEnd('c1', 'late'))['status'], 'denied')
    assert.is(dataOf(asked(), answered({ key: 'q2', decision: 'deny' }))['status'], 'waiting')
    assert.is(dataOf(asked(), toolEnd('c2', 'another'))['status'], 'waiting')
  })
})

describe('what was said in a chat', (it) => {
  it('is what a person said, before or at the prompt, and later in the middle', () => {
    const { exchange, take } = folded(event('run.start', { cause: 'prompt', requestId: 'q', messages: 3 }))
    take(user(1, 'first'), user(2, 'of the application', { type: 'note', kind: 'x' }), user(3, 'prompt'))
    take(reply(text('Hello')), user(4, 'steer'), user(5, 'note', { type: 'note', kind: 'x' }))
    const said = exchange.said.map(({ id, parts }) => [id, (parts[0] as { text: string }).text])
    assert.equal(said.at(-1), ['q', 'prompt'])
    assert.is(said.length, 2)
    assert.equal(partsOf(exchange).slice(2), [
      {
        type: 'steering-message',
        id: exchange.entries.map((entry) => ('id' in entry ? entry.id : ''))[2],
        parts: [{ type: 'text', text: 'steer' }],
      },
    ])
  })

  it('is a report of an agent that worked on its own, with who it was', () => {
    const { exchange } = folded(
      begun,
      user(1, 'go'),
      user(2, 'found', { type: 'report', agentId: 'a.1', name: 'scout' }),
    )
    const [report] = partsOf(exchange) as [{ type: string; data: object }]
    assert.equal([report.type, report.data], ['data-report', { agentId: 'a.1', name: 'scout', text: 'found' }])
  })

  it('is, where an answer is given again, what was said before it', () => {
    const { fold, take, before } = folded(begun, user(1, 'go'), reply(text('one')), ended('stop', 0))
    take(
      event('run.start', { cause: 'prompt', requestId: 'regenerate:1:q', messages: 1 }),
      user(2, 'again', { type: 'note', kind: 'regenerate' }),
    )
    assert.equal([before.length, fold.exchange!.said.map(({ id }) => id), partsOf(fold.exchange!)], [0, ['q'], []])
    take(ended('stop', 0), event('run.start', { cause: 'prompt', requestId: 'q2', messages: 1 }))
    assert.equal([before.map(({ requestId }) => requestId), fold.exchange!.said], [['regenerate:1:q'], []])
  })

  it('has messages that the agent began with, and what was said to one that was never prompted', () => {
    const imported = { runId: 'a/imported' }
    const { before, fold } = folded(
      event('message.added', { ...imported, nodeId: 1, message: { role: 'user', content: [text('old')] } }),
      event('reply.end', { ...imported, nodeId: 2, message: { content: [text('older')] } }),
      event('message.added', { ...imported, nodeId: 3, message: { role: 'user', content: [text('new')] } }),
    )
    assert.equal(
      [...before, fold.exchange!].map((one) => [one.said.length, partsOf(one)]),
      [
        [1, [step, { type: 'text', text: 'older', state: 'done' }]],
        [1, []],
      ],
    )
    const unasked = folded(user(1, 'go'))
    assert.is(unasked.exchange.said.length, 1)
    assert.equal(partsOf(folded(reply(text('I'))).exchange).length, 2)
  })

  it('is a line where a guard refused it, wherever it is shown', () => {
    const refused = (withheld: readonly number[]): AgentEvent =>
      event('guard.decided', { at: 'input', reason: 'rude', withheld })
    const { exchange, take, before, fold } = folded(
      event('run.start', { cause: 'prompt', requestId: 'q', messages: 2 }),
      user(1, 'first'),
      user(2, 'prompt'),
      reply(text('Hello')),
      user(3, 'steer'),
      user(4, 'found', { type: 'report', agentId: 'a.1', name: 'scout' }),
    )
    const words = () => JSON.stringify([exchange.said, exchange.entries])
    const seen = ['first', 'prompt', 'steer', 'found']
    for (const [at, word] of seen.entries()) {
      assert.match(words(), `"${word}"`)
      take(refused([at + 1]))
      assert.not.match(words(), `"${word}"`)
      for (const other of seen.slice(at + 1)) assert.match(words(), `"${other}"`)
    }
    assert.match(words(), '"scout"')
    take(event('run.start', { cause: 'prompt', requestId: 'q2', messages: 1 }), user(6, 'later'), refused([99]))
    assert.match(JSON.stringify(fold.exchange!.said), 'later')
    assert.is(before.length, 1)
    assert.is(exchange.said.map(({ id }) => id).at(-1), 'q')
  })
})

describe('how a chat goes', (it) => {
  const notes: readonly (readonly [type: string, more: object, data: object])[] = [
    [
      'revert.applied',
      { applied: true, category: 'tangent', target: 7, tag: { text: 'why' } },
      { category: 'tangent', to: 'n7', text: 'why' },
    ],
    ['revert.applied', { applied: true, category: 'tangent' }, { category: 'tangent' }],
    ['graft.applied', { applied: true, requested: ['n1'] }, { steps: ['n1'] }],
    ['prune.applied', { applied: true, steps: [7], masked: true }, { steps: ['n7'], masked: true }],
    ['prune.applied', { applied: true, steps: [7] }, { steps: ['n7'] }],
    ['compaction.end', { applied: true, tokensBefore: 9, tokensAfter: 3 }, { tokensBefore: 9, tokensAfter: 3 }],
  ]
  for (const [type, more, data] of notes)
    it(`tells of ${type} with ${Object.keys(data).join()}, once it was applied`, () => {
      const { exchange } = folded(begun, event(type, { ...more, seq: 5 }))
      assert.equal(exchange.entries, [{ type: 'data-escapement', id: '5', data: { type, ...data } } as never])
      assert.equal(folded(begun, event(type, { ...more, applied: false })).exchange.entries, [])
    })

  it('counts all runs of a message, and says how the last one ended', () => {
    const { exchange, take, fold } = folded(begun, ended('paused', 1))
    assert.is(exchange.end?.stopReason, 'paused')
    take(event('run.start', { cause: 'resume', requestId: 'q9' }))
    assert.equal([fold.exchange === exchange, exchange.end], [true, undefined])
    take(event('run.abandoned'))
    assert.is(exchange.end, undefined)
    take(ended('stop', 2))
    assert.equal(exchange.metadata, { stopReason: 'stop', usage: { ...usage, input: 2, output: 4 }, costUsd: 3 })
    take(event('run.abandoned'))
    assert.is(exchange.end?.stopReason, 'aborted')
    const resumed = folded(event('run.start', { cause: 'resume', requestId: 'q9' }), user(3, 'steer'))
    assert.equal([resumed.exchange.requestId, resumed.exchange.said.length], ['q9', 0])
  })

  it('keeps the last seq of its own agent, and shows agents that work for its calls', () => {
    const { fold, take } = folded(begun, event('turn.start', { seq: 8 }), event('error', { seq: 3 }))
    take(event('turn.start', { agentId: 'b', path: [], seq: 20 }))
    assert.is(fold.seq, 8)
    take(
      reply(toolCall('c1')),
      event('tool.start', { callId: 'c1', childId: 'a.1' }),
      event('tool.start', { callId: 'c2' }),
    )
    assert.equal([fold.called, fold.previewOf('a.1'), fold.previewOf('a.2')], [['a.1'], undefined, undefined])
    const at = { agentId: 'a.1', path: ['a'] }
    take(
      event('run.start', { ...at, cause: 'prompt', requestId: 'sub' }),
      event('reply.start', at),
      event('reply.delta', { ...at, text: 'H', offset: 0 }),
    )
    const preview = fold.previewOf('a.1')!
    assert.equal([preview.toolCallId, preview.message.parts], ['c1', [{ type: 'text', text: 'H' }]])
    take(toolEnd('c2', 'other'))
    assert.equal(fold.called, ['a.1'])
    take(toolEnd('c1', 'done'))
    assert.equal(fold.called, [])
  })
})
