import { nextError, EventErrors } from '../../../src/inspector/model/agent/eventErrors.ts'
import { groupOf, groupsOf, isFailure, type EventGroup } from '../../../src/inspector/model/agent/eventGroups.ts'
import { nodeAt } from '../../../src/inspector/model/events/eventNode.ts'
import {
  chosenGroups,
  EventRows,
  everyEvent,
  openedRows,
  rowText,
} from '../../../src/inspector/model/events/eventRows.ts'
import { eventText } from '../../../src/inspector/model/events/eventWords.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

/** An event with what its case is about. */
const event = (type: AgentEvent['type'], rest: object = {}): AgentEvent =>
  ({ agentId: 'a', path: [], time: 0, runId: 'a/r0', turnIndex: 0, seq: 1, type, ...rest }) as unknown as AgentEvent
const result = (rest: object = {}): object => ({ role: 'toolResult', content: [], isError: true, ...rest })
const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
const error = { code: 'MODEL_AUTH', message: 'The key is wrong.' }

describe('what went wrong', (it) => {
  it('is a failed run, call, attempt or sub-agent, whatever else it is, and no call that was answered for its tool', () => {
    const failures = [
      event('run.end', { stopReason: 'error', error }),
      event('run.end', { stopReason: 'paused', reason: { type: 'store', error } }),
      event('tool.end', { message: result() }),
      event('child.ended', { error }),
      event('reply.reset', { error }),
      event('error', { error }),
    ]
    assert.equal(failures.map(isFailure), [true, true, true, true, true, true])
    assert.equal([...new Set(failures.map(groupOf))], ['error'])
    assert.equal(groupsOf(failures[2]!), ['tool', 'error'])
    const others = [
      event('run.end', { stopReason: 'stop' }),
      event('tool.end', { message: result({ synthetic: 'denied' }) }),
      event('child.ended'),
    ]
    assert.equal(others.map(isFailure), [false, false, false])
  })

  it('is gone through in both directions from what is shown, and begins again at its end', () => {
    const [a, b, c] = [3, 5, 9].map((seq) => event('error', { seq, error }))
    const all = [a!, b!, c!]
    assert.is(nextError(all, 1, {}), a)
    assert.is(nextError(all, -1, {}), c)
    assert.is(nextError(all, 1, { shown: a! }), b)
    assert.is(nextError(all, 1, { shown: c! }), a)
    assert.is(nextError(all, -1, { shown: a! }), c)
    assert.is(nextError(all, 1, { shown: event('state.changed', { seq: 4 }) }), b)
    assert.is(nextError(all, -1, { seq: 9 }), b)
    assert.is(nextError([], 1, {}), undefined)
  })

  it('is found by looking at what is new alone, and up to a moment', () => {
    const events = [event('error', { error }), event('state.changed')]
    const errors = new EventErrors()
    const found = errors.of(events, 2)
    events.push(event('error', { error }))
    assert.is(errors.of(events, 3), found)
    assert.is(found.length, 2)
    assert.is(errors.of(events, 1).length, 1)
  })
})

describe('the rows of the list of events', (it) => {
  const turn = (turnIndex: number, seq: number): AgentEvent[] => [
    event('turn.start', { v: 3, seq, turnIndex }),
    event('state.changed', { seq, turnIndex, previous: 'idle', state: 'replying.requesting' }),
    event('turn.captured', { v: 3, seq: seq + 1, turnIndex, model: 'm', kept: 3, messages: [1] }),
    event('turn.request', { seq: seq + 1, turnIndex, model: 'm', request: { messages: [1, 2, 3, 4] } }),
    event('state.changed', { seq: seq + 1, turnIndex, previous: 'x', state: 'replying.streaming' }),
  ]

  it('have the beginning of a turn together, and say what each of its events adds', () => {
    const end = event('reply.end', { v: 3, seq: 4, nodeId: 2, message: { content: [] } })
    const rows = new EventRows().of([...turn(0, 2), end, ...turn(1, 5), ...turn(2, 7)], 16)
    assert.equal(
      rows.map(({ lead, events }) => [lead.type, events.length]),
      [
        ['turn.start', 5],
        ['reply.end', 1],
        ['turn.start', 5],
        ['turn.start', 5],
      ],
    )
    assert.is(rowText(rows[2]!), 'turn 2 · 4 messages to m · → replying.streaming')
    const opened = openedRows(rows, new Set([rows[0]!.key]))
    assert.equal(
      opened.slice(0, 7).map(({ lead }) => lead.type),
      ['turn.start', 'turn.start', 'state.changed', 'turn.captured', 'turn.request', 'state.changed', 'reply.end'],
    )
    assert.is(new Set(opened.map(({ key }) => key)).size, opened.length)
  })

  it('are looked at once each as the list grows, and begin again when it is another or shorter', () => {
    const events = turn(0, 2)
    const source = new EventRows()
    const rows = source.of(events, 3)
    assert.is(source.of(events, 5), rows)
    assert.is(source.counts.state, 2)
    assert.is(rows.length, 1)
    assert.is(source.of(events, 2)[0]!.events.length, 2)
    assert.is(source.counts.state, 1)
  })

  it('are those of the chosen kinds and words, one by one, with failures among the errors', () => {
    const failed = event('tool.end', { seq: 9, name: 'deploy', message: result({ content: [] }) })
    const events = [...turn(0, 2), failed]
    const shown = (only: readonly EventGroup[], text = ''): string[] =>
      new EventRows().of(events, events.length, { only: new Set(only), text }).map(({ lead }) => lead.type)
    assert.equal(shown(['error']), ['tool.end'])
    assert.equal(shown(['tool']), ['tool.end'])
    assert.equal(shown(['state', 'error']), ['state.changed', 'state.changed', 'tool.end'])
    assert.equal(shown([], ' DEPLOY '), ['tool.end'])
    assert.equal(shown([], '(.*'), [])
    const source = new EventRows()
    source.of(events, events.length, { only: new Set(['run']), text: 'x' })
    assert.equal([source.counts.tool, source.counts.error, source.counts.request], [1, 1, 2])
  })

  it('are chosen by kind: one alone, all again, or one more', () => {
    const one = chosenGroups(everyEvent.only, 'error', false)
    assert.equal([...one], ['error'])
    assert.equal([...chosenGroups(one, 'error', false)], [])
    assert.equal([...chosenGroups(one, 'tool', true)], ['error', 'tool'])
    assert.equal([...chosenGroups(new Set(['error', 'tool']), 'error', true)], ['tool'])
    assert.equal([...chosenGroups(new Set(['error', 'tool']), 'run', false)], ['run'])
  })

  it('say how a run ended and count turns from 1', () => {
    assert.is(
      eventText(event('run.end', { stopReason: 'error', turns: 1, error })),
      'failed after 1 turn: The key is wrong.',
    )
    assert.is(eventText(event('run.end', { stopReason: 'stop', turns: 2 })), 'done after 2 turns')
    assert.is(eventText(event('turn.end', { turnIndex: 6, usage })), 'turn 7, 1 token')
  })
})

describe('the node of an event', (it) => {
  const calls = [
    { type: 'toolCall', callId: 'c0', name: 'look', input: {} },
    { type: 'toolCall', callId: 'c1', name: 'look', input: {} },
  ]
  const records = [
    event('agent.created', { v: 3, seq: 1 }),
    event('message.added', { v: 3, seq: 2, nodeId: 1 }),
    event('reply.end', { v: 3, seq: 3, nodeId: 2, message: { content: calls } }),
    event('tool.start', { v: 3, seq: 4, callId: 'c1' }),
    event('tool.end', { v: 3, seq: 5, callId: 'c0', nodeId: 3 }),
    event('run.end', { v: 3, seq: 6, stopReason: 'error', error }),
  ] as unknown as LogRecord[]
  it('is its own, that of its call before there is a result, or the newest there was', () => {
    assert.equal(
      records.map((record) => nodeAt(record as unknown as AgentEvent, records)),
      [null, 1, 2, 4, 3, 3],
    )
    assert.is(nodeAt(event('state.changed', { seq: 99 }), records), 3)
  })
})
