import { emptyChat, foldMessages, type Chat } from '../../../../src/client.ts'
import type { AgentEvent } from '../../../../src/index.ts'
import { foldRun, type RunView } from '../../src/client/fold/foldRun.ts'
import { foldState } from '../../src/client/fold/foldState.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

let seq = 0
const event = (type: AgentEvent['type'], more: object = {}): AgentEvent =>
  ({ type, agentId: 'a', path: [], seq: (seq += 1), time: 0, runId: 'a/r1', turnIndex: 0, ...more }) as never

const said = (nodeId: number, text: string): AgentEvent =>
  event('message.added', { nodeId, message: { role: 'user', content: [{ type: 'text', text }], source: 'prompt' } })
const reply = (nodeId: number, turnIndex: number, text: string, more: object = {}): AgentEvent =>
  event('reply.end', {
    nodeId,
    turnIndex,
    message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', ...more },
  })
const ended = (stopReason: string, more: object = {}): AgentEvent =>
  event('run.end', { stopReason, turns: 1, usage: {}, costUsd: 0, ...more })

const chatOf = (...events: readonly AgentEvent[]): Chat => events.reduce(foldMessages, emptyChat('a'))

/** Messages in short: who, the text, and how it is. */
const short = ({ messages }: Chat): unknown[] =>
  messages.map((one) => [one.text, one.hidden ?? (one.role === 'assistant' ? one.status : 'said')])

describe('a chat, event by event', (it) => {
  it('forgets what a call in the background tells once it has reported', () => {
    const call = { type: 'toolCall', callId: 'c', name: 'build', input: {} }
    const began = [
      event('run.start', { requestId: 'q' }),
      reply(2, 0, '', { content: [call], stopReason: 'toolUse' }),
      event('tool.start', { callId: 'c', name: 'build', input: {}, background: 'b1' }),
      event('tool.end', {
        nodeId: 3,
        callId: 'c',
        name: 'build',
        message: { role: 'toolResult', callId: 'c', toolName: 'build', content: [], isError: false },
      }),
      event('tool.progress', { callId: 'c', name: 'build', progress: 'half' }),
    ]
    const over = [
      ...began,
      event('call.reported', { callId: 'c', id: 'b1', name: 'build', content: [], isError: false }),
    ]
    const progressOf = (events: readonly AgentEvent[]) => [
      chatOf(...events).messages.flatMap((one) => ('calls' in one ? one.calls.map(({ progress }) => progress) : [])),
      events.reduce<RunView | null>(foldRun, null)?.progress.map(({ progress }) => progress),
    ]
    assert.equal(progressOf(began), [['half'], ['half']])
    assert.equal(progressOf(over), [[undefined], []])
  })

  const talk = [said(1, 'one'), reply(2, 0, 'two'), said(3, 'three'), reply(4, 1, 'four')]

  it('hides what a summary stands for, from its first node to its last, but not what is kept', () => {
    const compacted = (overlay?: object) => short(chatOf(...talk, event('compaction.end', { overlay })))
    assert.equal(compacted({ from: 2, to: 3, kept: [] }), [
      ['one', 'said'],
      ['two', 'summarised'],
      ['three', 'summarised'],
      ['four', 'done'],
    ])
    assert.equal(
      compacted({ from: 1, to: 4, kept: [1, 4] }).map((one) => (one as unknown[])[1]),
      ['said', 'summarised', 'summarised', 'done'],
    )
    const before = chatOf(...talk)
    assert.is(foldMessages(before, event('compaction.end')).messages, before.messages)
  })

  it('keeps the first reason for which a message was hidden', () => {
    const twice = chatOf(
      ...talk,
      event('prune.applied', { applied: true, steps: [2] }),
      event('compaction.end', { overlay: { from: 1, to: 4, kept: [] } }),
    )
    assert.equal(
      short(twice).map((one) => (one as unknown[])[1]),
      ['summarised', 'pruned', 'summarised', 'summarised'],
    )
  })

  it('hides nothing where nothing was applied, and nothing that was only masked', () => {
    const before = chatOf(...talk)
    for (const [type, more] of [
      ['prune.applied', { applied: false, steps: [2] }],
      ['prune.applied', { applied: true, masked: true, steps: [2] }],
      ['prune.applied', { applied: true, steps: [] }],
      ['revert.applied', { applied: false, target: 1 }],
      ['revert.applied', { applied: true }],
    ] as const)
      assert.is(foldMessages(before, event(type, more)).messages, before.messages, `${type} ${JSON.stringify(more)}`)
  })

  it('grows a thought, a text and a call piece by piece, each in its place, and drops them when the reply begins again', () => {
    const grown = chatOf(
      event('reply.start'),
      event('thinking.delta', { text: 'Hm', offset: 0 }),
      event('thinking.delta', { text: 'm.', offset: 2 }),
      event('thinking.delta', { text: 'm!', offset: 2 }),
      event('reply.delta', { text: 'Yes', offset: 0 }),
      event('toolCall.delta', { callId: 'c', name: 'look', text: '{"a"' }),
      event('toolCall.delta', { callId: 'd', name: 'look', text: '[' }),
      event('toolCall.delta', { callId: 'c', name: 'look', text: ':1}' }),
    )
    const [one] = grown.messages
    assert.ok(one?.role === 'assistant')
    assert.equal(
      [one.thinking, one.text, one.calls.map(({ inputText }) => inputText)],
      ['Hmm!', 'Yes', ['{"a":1}', '[']],
    )
    for (const [more, status] of [
      [{ error: { code: 'MODEL_DOWN', message: 'x' }, retryAt: 5 }, 'growing'],
      [{ error: { code: 'MODEL_DOWN', message: 'x' } }, 'failed'],
    ] as const) {
      const [reset] = foldMessages(grown, event('reply.reset', more)).messages
      assert.ok(reset?.role === 'assistant')
      assert.equal([reset.thinking, reset.text, reset.calls, reset.status], ['', '', [], status])
    }
    // A reply that has ended does not grow.
    const done = foldMessages(grown, reply(1, 0, 'Yes.'))
    assert.is(foldMessages(done, event('reply.delta', { text: 'No', offset: 0 })).messages, done.messages)
  })

  for (const [name, pieces, left] of [
    ['nothing', [], 0],
    ['a text', [event('reply.delta', { text: 'Y', offset: 0 })], 1],
    ['a thought', [event('thinking.delta', { text: 'H', offset: 0 })], 1],
    ['a call', [event('toolCall.delta', { callId: 'c', name: 'look', text: '{' })], 1],
  ] as const)
    for (const [stopReason, status] of [
      ['aborted', 'cutOff'],
      ['error', 'failed'],
    ] as const)
      it(`has of a reply with ${name} that was under way when its run ended by "${stopReason}" ${left}`, () => {
        const { messages } = chatOf(said(1, 'go'), event('reply.start'), ...pieces, ended(stopReason))
        assert.equal(
          messages.slice(1).map((one) => one.role === 'assistant' && one.status),
          left === 0 ? [] : [status],
        )
      })

  it('has a reply cut off that was aborted, and no other', () => {
    assert.equal(short(chatOf(reply(1, 0, 'x', { stopReason: 'aborted' }))), [['x', 'cutOff']])
    assert.equal(short(chatOf(reply(1, 0, 'x'))), [['x', 'done']])
  })

  it('says how the agent is after each end and beginning of a run', () => {
    const error = { code: 'MODEL_AUTH', message: 'no' }
    const reason = { type: 'limit' }
    const paused = chatOf(event('run.start'), ended('paused', { reason }))
    const failed = chatOf(event('run.start'), ended('error', { error }))
    const about = ({ status, pause, error: why }: Chat): unknown[] => [status, pause, why]
    assert.equal(about(paused), ['paused', reason, undefined])
    assert.equal(about(failed), ['idle', undefined, error])
    assert.equal(about(foldMessages(paused, event('run.abandoned'))), ['idle', undefined, undefined])
    for (const before of [paused, failed]) {
      assert.equal(about(foldMessages(before, event('run.start'))), ['running', undefined, undefined])
      assert.equal(about(foldMessages(before, ended('stop'))), ['idle', undefined, undefined])
    }
    assert.is(foldMessages(paused, event('agent.stopped')).status, 'stopped')
  })

  it('is empty again where its log begins again, and takes nothing of other agents', () => {
    const before = chatOf(...talk)
    assert.equal(foldMessages(before, event('agent.created')).messages, [])
    assert.is(foldMessages(before, { ...said(9, 'x'), agentId: 'b' }), before)
    // One that comes late does not put the position back.
    assert.is(foldMessages(before, { ...said(9, 'x'), seq: 1 }).seq, before.seq)
  })
})

describe('the state of an agent, event by event', (it) => {
  const before = { state: 'replying.streaming', pause: null }
  for (const [type, more, expected] of [
    ['state.changed', { state: 'executing' }, ['executing', null]],
    ['run.start', {}, ['replying', null]],
    ['run.end', { stopReason: 'paused', reason: { type: 'limit' } }, ['paused', { type: 'limit' }]],
    ['run.end', { stopReason: 'paused' }, ['paused', null]],
    ['run.end', { stopReason: 'stop', reason: { type: 'limit' } }, ['idle', null]],
    ['agent.stopped', {}, ['stopped', null]],
  ] as const)
    it(`is ${expected[0]} after ${type} ${JSON.stringify(more)}`, () => {
      const { state, pause } = foldState(before, event(type, more))
      assert.equal([state, pause], expected)
    })

  it('keeps the reason of a pause while only its state is told, and is the same object where nothing changes', () => {
    const paused = { state: 'paused', pause: { type: 'limit' } as never }
    assert.equal(foldState(paused, event('state.changed', { state: 'idle' })), { ...paused, state: 'idle' })
    assert.is(foldState(paused, event('state.changed', { state: 'paused' })), paused)
    assert.is(foldState(paused, said(1, 'x')), paused)
    // Nothing is paused once a run begins.
    assert.equal(foldState(paused, event('run.start')), { state: 'replying', pause: null })
  })
})

describe('a run, event by event', (it) => {
  const run = (...events: readonly AgentEvent[]): RunView | null => events.reduce(foldRun, null as RunView | null)
  const answered = event('reply.end', {
    message: { role: 'assistant', content: [{ type: 'text', text: '{"n":1}' }], stopReason: 'stop' },
    answer: true,
  })
  const start = event('run.start', { requestId: 'q' })

  it('has an output only of a last reply that is an answer, where it stopped by itself', () => {
    assert.equal(run(start, answered, ended('stop'))?.result?.output, { n: 1 })
    for (const events of [
      [start, answered, ended('paused')],
      [start, answered, event('reply.start'), ended('stop')],
      [start, answered, event('reply.reset'), ended('stop')],
      [start, answered, reply(1, 0, '{"n":1}'), ended('stop')],
      [start, answered, event('run.start', { requestId: 'q2', runId: 'a/r2' }), ended('stop')],
    ])
      assert.is(run(...events)?.result?.output, undefined, events.map(({ type }) => type).join())
  })

  it('keeps its answer over a resumption of it, and of no other run', () => {
    const resumed = (resumedFrom: string) => event('run.start', { requestId: 'q', runId: 'a/r2', resumedFrom })
    assert.equal(run(start, answered, ended('paused'), resumed('a/r1'), ended('stop'))?.result?.output, { n: 1 })
    const other = run(start, answered, ended('paused'), resumed('a/r0'))
    assert.equal(
      [other?.text, run(start, answered, ended('paused'), resumed('a/r0'), ended('stop'))?.result?.output],
      ['', undefined],
    )
  })

  it('has the last report of each tool that runs, in the order in which they began to report', () => {
    const report = (callId: string, progress: unknown) => event('tool.progress', { callId, name: 'look', progress })
    const reports = [start, report('c', 1), report('d', 2), report('c', 3)]
    const progress = (...more: readonly AgentEvent[]) =>
      run(...reports, ...more)?.progress.map((one) => [one.callId, one.progress])
    assert.equal(progress(), [
      ['c', 3],
      ['d', 2],
    ])
    assert.equal(progress(event('tool.end', { callId: 'c' })), [['d', 2]])
    assert.equal(progress(event('tool.end', { callId: 'x' })), progress())
    assert.equal(progress(ended('stop')), [])
  })

  it('is begun by a start alone, given up where it ended paused, and forgotten where its log begins again', () => {
    assert.is(run(answered, ended('stop')), null)
    assert.is(run(start, ended('paused'), event('run.abandoned'))?.status, 'aborted')
    assert.is(run(start, event('run.abandoned'))?.status, 'running')
    assert.is(run(start, ended('paused'), event('run.abandoned', { runId: 'a/r0' }))?.status, 'paused')
    assert.is(run(start, event('agent.created')), null)
  })
})
