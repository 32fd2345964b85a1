import type { Event } from '@ag-ui/core'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { AgUiRun } from '../src/agUiRun.ts'
import { RunView } from '../src/runView.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const event = (type: string, more: object = {}): AgentEvent =>
  ({ v: 3, type, agentId: 't', path: [], seq: 1, time: 0, runId: 'r1', turnIndex: 0, ...more }) as never

/** A view of a run of which the case says how it stands, by a client that reads as fast as the case says. */
function viewed() {
  const agent = {
    id: 't',
    clientTools: ['own'],
    durable: () => undefined,
    children: () => [],
    conversation: { head: null },
    state: 'idle',
    spent: { usage: {} },
    approvals: () => [],
    tree: () => ({ children: [] }),
    pending: () => [],
    pause: null,
  }
  const conversation: object[] = []
  const run = {
    runId: 'one',
    activity: {
      agent,
      messages: () => conversation,
      replies: new Map<string, object>(),
      children: new Map(),
      turns: new Map(),
    },
    messageIds: [],
    pendingMessageIds: [],
    isLive: false,
    isOver: false,
    ending: undefined as object | undefined,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    observers: new Set<object>(),
    takeBacklog: () => undefined,
  }
  const out = { isFull: false, events: [] as Event[], drains: [] as (() => void)[], ends: 0 }
  const view = new RunView(run as unknown as AgUiRun, {
    get isFull() {
      return out.isFull
    },
    write: (one) => void out.events.push(one),
    onDrain: (call) => void out.drains.push(call),
    end: () => void (out.ends += 1),
  })
  const start = (messages: readonly object[] = [], tools: readonly string[] = []): void =>
    view.start({ messages: messages as never, tools: tools.map((name) => ({ name })) as never, protocolVersion: '1.0' })
  /** Types of the events written since the last call. */
  const take = (): string[] => out.events.splice(0).map(({ type }) => type)
  const drain = (): void => {
    out.isFull = false
    for (const call of out.drains.splice(0)) call()
  }
  return { agent, run, out, view, conversation, start, take, drain }
}

const said = { id: 'm1', role: 'user', content: 'go' }

describe('a run of AG-UI as a client sees it', (it) => {
  it('begins with how things are, and with the messages where the client has others', () => {
    const same = viewed()
    same.conversation.push(said)
    same.start([said])
    assert.equal(same.take(), ['RUN_STARTED', 'STATE_SNAPSHOT'])
    const other = viewed()
    other.conversation.push(said)
    other.start([])
    assert.equal(other.take(), ['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'STATE_SNAPSHOT'])
    const wrong = viewed()
    wrong.start([{ id: 's', role: 'system', content: 'x' }, said], ['own', 'theirs'])
    assert.equal(
      wrong.out.events.map(({ type, ...more }) => [
        type,
        (more as { messages?: { id: string }[] }).messages?.map(({ id }) => id),
        (more as { value?: object }).value,
      ]),
      [
        ['RUN_STARTED', undefined, undefined],
        ['CUSTOM', undefined, { names: ['theirs'] }],
        ['MESSAGES_SNAPSHOT', ['s'], undefined],
        ['STATE_SNAPSHOT', undefined, undefined],
      ],
    )
    assert.is(wrong.run.observers.size, 1)
  })

  it('empties a client first whose messages would come out in another order', () => {
    const second = { id: 'm2', role: 'user', content: 'on' }
    for (const [shown, snapshots] of [
      [[second], [[], ['m1', 'm2']]],
      [[said], [['m1', 'm2']]],
      [[said, { id: 'gone', role: 'tool', content: 'x', toolCallId: 'c' }], [['m1', 'm2']]],
      [
        [said, { id: 'thought', role: 'reasoning', content: 'x' }],
        [[], ['m1', 'm2']],
      ],
    ] as const) {
      const { conversation, out, start } = viewed()
      conversation.push(said, second)
      start(shown)
      const sent = out.events.flatMap((sending) =>
        'messages' in sending ? [sending.messages as { id: string }[]] : [],
      )
      assert.equal(
        sent.map((messages) => messages.map(({ id }) => id)),
        snapshots,
      )
    }
  })

  it('begins with the reply under way, as far as it is', () => {
    const { run, out, start } = viewed()
    run.isLive = true
    run.activity.replies.set('t', { turnIndex: 3, attempt: 2, text: 'He', thinking: 'hm', calls: new Map() })
    start()
    const snapshot = out.events.find(({ type }) => (type as string) === 'MESSAGES_SNAPSHOT') as unknown as {
      messages: object[]
    }
    assert.equal(snapshot.messages, [
      { id: 't/t3/thinking~2', role: 'reasoning', content: 'hm' },
      { id: 't/t3', role: 'assistant', content: 'He' },
    ])
  })

  it('tells of the state when it has changed, but not at what never changes it', () => {
    const { agent, view, start, take } = viewed()
    start()
    take()
    view.take(event('turn.end'), true)
    assert.is(take().includes('STATE_DELTA'), false)
    agent.state = 'streaming'
    for (const type of ['reply.delta', 'tool.progress', 'turn.request']) view.take(event(type, { text: '' }), false)
    assert.equal(take(), [])
    view.take(event('turn.end'), false)
    assert.equal(take(), ['STATE_DELTA'])
  })

  it('is told nothing while it does not read, and then what it missed', () => {
    for (const [types, expected] of [
      [['reply.delta', 'thinking.delta'], []],
      [['reply.delta', 'turn.end', 'reply.delta'], ['MESSAGES_SNAPSHOT']],
    ] as const) {
      const { view, out, start, take, drain } = viewed()
      out.isFull = true
      start()
      take()
      for (const type of types) view.take(event(type, { text: 'x', offset: 0 }), true)
      assert.equal([take(), out.drains.length], [[], 1])
      drain()
      assert.equal([take(), out.drains.length], [expected, 0])
    }
  })

  it('waits again where it is full again', () => {
    const { view, out, start, take, drain } = viewed()
    start()
    out.isFull = true
    view.take(event('turn.end'), false)
    take()
    const [call] = out.drains.splice(0)
    call!()
    assert.is(out.drains.length, 1)
    view.take(event('turn.end'), false)
    assert.equal(take(), [])
    drain()
    assert.equal(take(), ['MESSAGES_SNAPSHOT'])
  })

  it('ends with the run, at once, or once it has read', () => {
    const live = viewed()
    live.start()
    live.take()
    live.view.over({ type: 'success' })
    live.view.over({ type: 'success' })
    live.view.take(event('turn.end'), true)
    live.view.leave()
    assert.equal([live.take(), live.out.ends, live.run.observers.size], [['RUN_FINISHED'], 1, 0])
    const slow = viewed()
    slow.out.isFull = true
    slow.start()
    slow.take()
    Object.assign(slow.run, { isOver: true, ending: { type: 'cancelled' } })
    slow.view.over()
    assert.equal([slow.take(), slow.out.ends], [[], 0])
    slow.drain()
    assert.equal([slow.take(), slow.out.ends], [['RUN_FINISHED'], 1])
    const late = viewed()
    Object.assign(late.run, { isOver: true, ending: { type: 'error', code: 'X', message: 'x' } })
    late.start()
    assert.equal([late.take().at(-1), late.out.ends], ['RUN_ERROR', 1])
  })

  it('ends when the server does, and is told nothing once its client has left', () => {
    const stays = viewed()
    stays.start()
    stays.take()
    stays.view.leave()
    assert.equal(
      [stays.out.events.map((one) => (one as { code?: string }).code), stays.out.ends],
      [['SERVER_CLOSED'], 1],
    )
    const left = viewed()
    left.out.isFull = true
    left.start()
    left.take()
    left.view.close()
    assert.is(left.run.observers.size, 0)
    left.drain()
    left.view.take(event('turn.end'), true)
    left.view.over({ type: 'success' })
    left.view.leave()
    assert.equal([left.take(), left.out.ends], [[], 0])
  })
})
