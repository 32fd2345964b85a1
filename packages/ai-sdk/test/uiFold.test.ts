import type { AgentEvent } from '../../../src/protocol/events.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import {
  begun,
  ended,
  event,
  folded,
  partsOf,
  reply,
  step,
  text,
  toolCall,
  toolEnd,
  usage,
  user,
} from './chatEvents.ts'

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
