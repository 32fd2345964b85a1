import type { Event } from '@ag-ui/core'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import { OpenParts } from '../src/openParts.ts'
import { ReplyCursor, type PartialReply } from '../src/replyCursor.ts'
import { writeAgUiEvents, type EventWriter } from '../src/writeAgUiEvents.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const event = (type: string, more: object = {}): AgentEvent =>
  ({ v: 3, type, agentId: 't', path: [], seq: 1, time: 0, runId: 'r1', turnIndex: 0, ...more }) as never

type Written = { readonly type: string; readonly [field: string]: unknown }

/** Writer of events that keeps rewrites as such. */
function writer(own: Partial<EventWriter> = {}) {
  const out: Written[] = []
  const write = (one: Event): void => void out.push(one)
  const to: EventWriter = {
    rootId: 't',
    parts: new OpenParts(write),
    isFull: false,
    write,
    rewrite: () => void out.push({ type: 'rewrite' }),
    unseenMessageId: () => 'm1',
    pull: (agentId, piece) => void out.push({ type: 'pull', agentId, text: piece.text }),
    childOf: () => undefined,
    ...own,
  }
  const of = (...events: readonly AgentEvent[]): readonly Written[] => {
    for (const one of events) writeAgUiEvents(one, to)
    return out.splice(0)
  }
  return { of, to, out, types: (...events: readonly AgentEvent[]) => of(...events).map(({ type }) => type) }
}

const kid = { agentId: 't.1', path: ['t'] }
const text = (words: string) => [{ type: 'text', text: words }]
const reply = (content: readonly object[], more: object = {}) =>
  event('reply.end', { nodeId: 2, message: { role: 'assistant', content, stopReason: 'stop' }, ...more })
const result = (more: object, about: object = {}) =>
  event('tool.end', {
    callId: 'c',
    nodeId: 3,
    message: { role: 'toolResult', callId: 'c', content: text('gone'), isError: false, ...more },
    ...about,
  })
const called = event('tool.start', { callId: 'c', name: 'worker', childId: 't.1' })

describe('an event as AG-UI has it', (it) => {
  it('changes the messages of the thread where it was applied to its own agent, and nowhere else', () => {
    const { types } = writer()
    for (const type of ['revert.applied', 'graft.applied', 'compaction.end']) {
      const about = (more: object) => types(event(type, more))
      assert.equal(about({ applied: true }), ['CUSTOM', 'rewrite'], type)
      assert.equal(about({ applied: false }), ['CUSTOM'], type)
      assert.equal(about({ applied: true, ...kid }), ['CUSTOM'], type)
    }
    assert.equal(types(event('events.dropped')), ['rewrite'])
    for (const more of [{}, kid]) {
      const expected = more === kid ? [] : ['rewrite']
      assert.equal(types(event('reply.reset', more)), ['CUSTOM', ...expected])
      assert.equal(types(reply([], { withheld: true, ...more })), expected)
      assert.equal(types(reply([], more)), [])
    }
  })

  it('has the data of a result after it, and nothing where there is none', () => {
    const { of } = writer()
    const [first, second, ...more] = of(result({}, { name: 'save', data: { id: 'x' } }))
    assert.equal([first!.type, second!.type, more], ['TOOL_CALL_RESULT', 'CUSTOM', []])
    assert.equal(first!['content'], 'gone')
    assert.equal(
      [second!['name'], second!['value']],
      ['escapement.data', { toolCallId: 'c', name: 'save', data: { id: 'x' } }],
    )
    assert.is(of(result({})).length, 1)
  })

  it('tells of a tag at the node that was reverted to', () => {
    const { of } = writer()
    const [, tag] = of(event('revert.applied', { applied: false, tag: 'x', target: 4 }))
    assert.equal([tag!['name'], tag!['value']], ['escapement.tag.added', { nodeId: 'n4', tag: 'x' }])
    for (const more of [{ tag: 'x' }, { target: 4 }])
      assert.is(of(event('revert.applied', { applied: false, ...more })).length, 1)
  })

  it('is a message of a person where that is text, and new to the client', () => {
    const said = (content: readonly object[], more: object = {}) =>
      event('message.added', { nodeId: 1, message: { role: 'user', content, source: 'steer' }, ...more })
    const { of, types } = writer()
    assert.equal(
      of(said(text('go'))).map(({ type, messageId, delta }) => [type, messageId, delta]),
      [
        ['TEXT_MESSAGE_START', 'm1', undefined],
        ['TEXT_MESSAGE_CONTENT', 'm1', 'go'],
        ['TEXT_MESSAGE_END', 'm1', undefined],
      ],
    )
    assert.equal(types(said([{ type: 'image', data: 'AAAA', mimeType: 'image/png' }])), ['rewrite'])
    assert.equal(types(said(text('go'), kid)), [])
    assert.equal(writer({ unseenMessageId: () => undefined }).types(said(text('go'))), [])
  })

  it('is a whole reply where nothing of it was streamed, each part once', () => {
    const { of, to } = writer()
    const content = [...text('Hm.'), { type: 'toolCall', callId: 'c', name: 'look', input: { at: 1 } }]
    assert.equal(
      of(reply(content)).map(({ type }) => type),
      [
        'TEXT_MESSAGE_START',
        'TEXT_MESSAGE_CONTENT',
        'TOOL_CALL_START',
        'TOOL_CALL_ARGS',
        'TOOL_CALL_END',
        'TEXT_MESSAGE_END',
      ],
    )
    const partial: PartialReply = {
      turnIndex: 0,
      attempt: 1,
      text: 'Hm',
      thinking: '',
      calls: new Map([['c', { name: 'look', text: '{' }]]),
    }
    new ReplyCursor(to).pull('t', partial)
    assert.equal(
      of(reply(content)).map(({ type }) => type),
      [
        'TEXT_MESSAGE_START',
        'TEXT_MESSAGE_CONTENT',
        'TOOL_CALL_START',
        'TOOL_CALL_ARGS',
        'TOOL_CALL_END',
        'TEXT_MESSAGE_END',
      ],
    )
  })

  it('says of a failed call that it failed, and who failed it', () => {
    const { of } = writer()
    const metadata = (more: object) => of(result(more))[0]!['metadata']
    assert.is(metadata({}), undefined)
    assert.is(metadata({ synthetic: 'aborted' }), undefined)
    assert.equal(metadata({ isError: true }), { escapement: { isError: true } })
    assert.equal(metadata({ isError: true, synthetic: 'aborted' }), {
      escapement: { isError: true, synthetic: 'aborted' },
    })
  })

  it('marks what is of a sub-agent, and nothing else', () => {
    const { of } = writer()
    for (const type of ['turn.start', 'approval.requested', 'tool.progress', 'error'])
      for (const more of [{}, kid]) {
        const [one] = of(event(type, { callId: 'c', ...more }))
        assert.is(one!['subagentRunId'], more === kid ? 't.1' : undefined, type)
      }
    // What a client does not know of goes on without where it was, or the version of its form.
    const [one] = of(event('error', { error: { code: 'X' }, ...kid }))
    const value = one!['value'] as object
    assert.equal([Object.hasOwn(value, 'v'), Object.hasOwn(value, 'path')], [false, false])
  })
})

describe('a sub-agent as AG-UI has it', (it) => {
  const childOf = () => 't.1'
  const ended = (stopReason: string, more: object = {}) => event('run.end', { ...kid, stopReason, ...more })

  it('begins with its call, below who called it, and a call without one begins nothing', () => {
    const { of } = writer()
    const [one] = of(called)
    assert.equal(
      [one!.type, one!['subagentRunId'], one!['parentSubagentRunId']],
      ['SUBAGENT_STARTED', 't.1', undefined],
    )
    const [below] = of(event('tool.start', { ...kid, callId: 'd', name: 'worker', childId: 't.1.1' }))
    assert.equal([below!['subagentRunId'], below!['parentSubagentRunId']], ['t.1.1', 't.1'])
    assert.equal(of(event('tool.start', { callId: 'c', name: 'look' })), [])
  })

  for (const [stopReason, error, ending] of [
    ['stop', undefined, ['SUBAGENT_FINISHED', undefined, undefined]],
    ['limit', undefined, ['SUBAGENT_FINISHED', undefined, undefined]],
    ['paused', undefined, ['SUBAGENT_FINISHED', undefined, undefined]],
    ['aborted', undefined, ['SUBAGENT_ERROR', 'aborted', 'The sub-agent ended: aborted.']],
    ['error', undefined, ['SUBAGENT_ERROR', 'error', 'The sub-agent ended: error.']],
    ['error', { code: 'MODEL_AUTH', message: 'no' }, ['SUBAGENT_ERROR', 'MODEL_AUTH', 'no']],
  ] as const)
    it(`whose run ends by "${stopReason}"${error === undefined ? '' : ' with an error'} ends so, once, and all of it before`, () => {
      const { of } = writer({ childOf })
      of(called, event('turn.start', kid))
      const [step, last, ...more] = of(ended(stopReason, error === undefined ? {} : { error }))
      assert.is(step!.type, 'STEP_FINISHED')
      assert.equal([last!.type, last!['code'], last!['message']], ending)
      assert.equal(more, [])
      // It has ended: the result of its call comes alone.
      assert.equal(
        of(result({ isError: true })).map(({ type }) => type),
        ['TOOL_CALL_RESULT'],
      )
    })

  for (const [content, isError, ending] of [
    ['done', false, ['SUBAGENT_FINISHED', undefined]],
    ['no', true, ['SUBAGENT_ERROR', 'no']],
    ['', true, ['SUBAGENT_ERROR', 'The sub-agent failed.']],
  ] as const)
    it(`that ends with the result of its call, ${JSON.stringify(content)}, ends before that`, () => {
      const { of } = writer({ childOf })
      of(called, event('turn.start', kid))
      const [step, last, own, ...more] = of(result({ isError, content: text(content) }))
      assert.equal(
        [step!.type, last!.type, last!['message'], own!.type, more],
        ['STEP_FINISHED', ...ending, 'TOOL_CALL_RESULT', []],
      )
    })

  it('is not ended by the end of the run of its root', () => {
    const { of } = writer({ childOf })
    of(called)
    assert.equal(of(event('run.end', { stopReason: 'stop' })), [])
  })
})

describe('what a client has of a reply under way', (it) => {
  const partial = (more: Partial<PartialReply> = {}): PartialReply => ({
    turnIndex: 0,
    attempt: 1,
    text: '',
    thinking: '',
    calls: new Map(),
    ...more,
  })
  const deltas = (out: readonly Written[]) =>
    out.flatMap(({ type, delta }) => (delta === undefined ? [] : [[type.split('_')[0], delta]]))

  it('grows by what is new of it, whatever the newest piece is', () => {
    const { to, out } = writer()
    const cursor = new ReplyCursor(to)
    const grow = (own: Partial<PartialReply>, newest?: object) => {
      cursor.pull('t', partial(own), newest as never)
      return deltas(out.splice(0))
    }
    assert.equal(grow({ text: 'He' }, { type: 'reply.delta', text: 'He' }), [['TEXT', 'He']])
    assert.equal(grow({ text: 'Hello' }, { type: 'reply.delta', text: 'llo' }), [['TEXT', 'llo']])
    // The newest is a part of what it misses, or of another kind.
    assert.equal(grow({ text: 'Hello you' }, { type: 'reply.delta', text: 'u' }), [['TEXT', ' you']])
    assert.equal(grow({ text: 'Hello you.' }, { type: 'thinking.delta', text: '!' }), [['TEXT', '.']])
    assert.equal(grow({ text: 'Hello you.' }), [])
    // Another attempt, or turn, begins anew.
    assert.equal(grow({ text: 'Hi', attempt: 2 }), [['TEXT', 'Hi']])
    assert.equal(grow({ text: 'Hi', attempt: 2, turnIndex: 1 }), [['TEXT', 'Hi']])
    cursor.reset()
    assert.equal(grow({ text: 'Hi', attempt: 2, turnIndex: 1 }), [['TEXT', 'Hi']])
  })

  it('waits while the client takes no more, and goes on where it was', () => {
    const long = 'x'.repeat(3_000_000)
    for (const kind of ['text', 'thinking'] as const) {
      let isFull = true
      const { to, out } = writer()
      const full: EventWriter = Object.defineProperty({ ...to }, 'isFull', { get: () => isFull })
      const cursor = new ReplyCursor(full)
      const read = () =>
        deltas(out.splice(0))
          .map(([, delta]) => delta as string)
          .join('')
      assert.is(cursor.pull('t', partial({ [kind]: long })), false, kind)
      const first = read()
      assert.ok(first.length > 0 && first.length < long.length)
      isFull = false
      assert.is(cursor.pull('t', partial({ [kind]: long })), true)
      assert.is(first + read(), long)
      // All of it is there: it is not waited for, full or not.
      isFull = true
      assert.is(cursor.pull('t', partial({ [kind]: long })), true)
      assert.is(cursor.pull('t', partial({ [kind]: `${long}!` })), true)
      assert.is(read(), '!')
    }
  })

  it('is what a snapshot gave it, but for calls, which come again', () => {
    const { to, out } = writer()
    const cursor = new ReplyCursor(to)
    const calls = new Map([['c', { name: 'look', text: '{"a"' }]])
    cursor.skip('t', partial({ text: 'He', thinking: 'hm', calls }))
    cursor.pull('t', partial({ text: 'Hello', thinking: 'hmm', calls }))
    assert.equal(deltas(out.splice(0)), [
      ['REASONING', 'm'],
      ['TEXT', 'llo'],
      ['TOOL', '{"a"'],
    ])
  })

  it('has a call once its name is known, empty ones too, and its arguments as they grow', () => {
    const { to, out } = writer()
    const cursor = new ReplyCursor(to)
    const grow = (call: object) => {
      cursor.pull('t', partial({ calls: new Map([['c', call as { text: string }]]) }))
      return out.splice(0).map(({ type, delta }) => delta ?? type)
    }
    assert.equal(grow({ text: '{' }), [])
    assert.equal(grow({ name: 'look', text: '' }), ['TOOL_CALL_START'])
    assert.equal(grow({ name: 'look', text: '{' }), ['{'])
    assert.equal(grow({ name: 'look', text: '{' }), [])
    assert.equal(grow({ name: 'look', text: '{}' }), ['}'])
  })

  it('has its thoughts ended before its text or its calls begin', () => {
    for (const more of [{ text: 'a' }, { calls: new Map([['c', { name: 'look', text: '{' }]]) }]) {
      const { to, out } = writer()
      new ReplyCursor(to).pull('t', partial({ thinking: 'hm', ...more }))
      const types = out.map(({ type }) => type)
      const next = types.findIndex((type) => type.startsWith('TEXT') || type.startsWith('TOOL'))
      assert.ok(types.indexOf('REASONING_END') < next && types.indexOf('REASONING_END') > 0, types.join())
    }
  })
})
