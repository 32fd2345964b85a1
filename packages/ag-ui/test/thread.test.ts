import type { AgentEvent } from '../../../src/protocol/events.ts'
import { AgUiRun } from '../src/agUiRun.ts'
import { Thread } from '../src/thread.ts'
import { argumentsOf, contentOf } from '../src/threadMessages.ts'
import { blocksOf, newMessages } from '../src/userInput.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve))
}
const event = (type: string, more: object = {}): AgentEvent =>
  ({ v: 3, type, agentId: 't', path: [], seq: 1, time: 0, runId: 'r1', turnIndex: 0, ...more }) as never
const start = (runId: string, asked: string, more: object = {}): AgentEvent =>
  event('run.start', { runId, requestId: `ag-ui:${asked}`, cause: 'prompt', ...more })
const end = (runId: string, more: object = {}): AgentEvent => event('run.end', { runId, stopReason: 'stop', ...more })
const user = (nodeId: number, more: object = {}): AgentEvent =>
  event('message.added', { nodeId, message: { role: 'user', content: [], ...more } })

/** A thread of an agent that does what the case says. */
function threaded() {
  const spent = { usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }, costUsd: 0, turns: 0 }
  const listeners = new Set<(event: AgentEvent) => unknown>()
  const log: { readonly id: number; readonly runId: string; readonly message: object }[] = []
  const agent = {
    id: 't',
    isPlaced: undefined as true | undefined,
    clientTools: [],
    growingReply: undefined,
    pause: null as object | null,
    waits: [] as object[],
    stored: undefined as Promise<void> | undefined,
    refusal: undefined as Promise<void> | undefined,
    state: 'idle',
    spent,
    conversation: { head: null, log: () => log, trunk: () => log, node: () => ({}) },
    pending: () => agent.waits,
    approvals: () => [],
    children: () => [],
    tree: () => ({ state: agent.state, children: [] }),
    durable: () => agent.stored,
    taken: () => agent.refusal,
    subscribe: (listener: (event: AgentEvent) => unknown) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const thread = new Thread(agent as unknown as DrivenAgent)
  const happens = (...events: readonly AgentEvent[]): void => {
    for (const one of events) for (const listener of listeners) listener(one)
  }
  /** Begins a run, which is not over before the agent says so. */
  const begin = (runId: string, more: ConstructorParameters<typeof AgUiRun>[2] = {}): AgUiRun => {
    const run = new AgUiRun(thread.activity, runId, more)
    thread.begin(run, () => ({ requestId: `ag-ui:${runId}`, result: new Promise(() => {}) }))
    return run
  }
  return { agent, thread, listeners, happens, begin, log, spent }
}

describe('a run of AG-UI', (it) => {
  it('is live from its own start on, and ends with it, with what it used itself', () => {
    const { begin, happens, agent, listeners } = threaded()
    const run = begin('one')
    happens(start('r0', 'other'), end('r0'))
    assert.equal([run.isLive, run.isOver], [false, false])
    agent.spent = { ...agent.spent, usage: { ...agent.spent.usage, input: 5 } }
    happens(start('r1', 'one'))
    assert.is(run.isLive, true)
    agent.spent = { ...agent.spent, usage: { ...agent.spent.usage, input: 7 } }
    happens(end('r1'))
    assert.equal([run.isOver, run.ending?.type, run.usage.input], [true, 'success', 2])
    assert.is(listeners.size, 0)
  })

  it('that continues another is live at once, and counts from its beginning', () => {
    const { begin, happens, agent } = threaded()
    const run = begin('two', { isContinuation: true })
    assert.is(run.isLive, true)
    agent.spent = { ...agent.spent, usage: { ...agent.spent.usage, input: 4 } }
    happens(start('r1', 'one'), event('turn.start'), start('r2', 'other'), end('r2'))
    assert.is(run.isOver, false)
    agent.spent = { ...agent.spent, usage: { ...agent.spent.usage, input: 7 } }
    happens(end('r1'))
    assert.equal([run.isOver, run.usage.input], [true, 6])
  })

  it('goes on in the run that it is resumed by', () => {
    const { begin, happens, agent } = threaded()
    agent.isPlaced = true
    const run = begin('one')
    happens(start('r1', 'one'), end('r1', { stopReason: 'paused', reason: { type: 'interrupted' } }))
    assert.is(run.isOver, false)
    happens(start('r2', 'x', { resumedFrom: 'r1', cause: 'resume' }), end('r2'))
    assert.is(run.isOver, true)
  })

  it('ends with what waits for people, once it is live', () => {
    const { begin, happens, agent } = threaded()
    const run = begin('one')
    agent.waits = [{ kind: 'approval', agentId: 't', callId: 'c', key: 'k', name: 'pay', input: {} }]
    Object.assign(agent, { pause: { type: 'approvals' }, state: 'paused' })
    happens(event('state.changed', { state: 'paused' }))
    assert.is(run.ending, undefined)
    happens(start('r1', 'one'), event('state.changed', { state: 'paused' }))
    assert.is(run.ending?.type, 'interrupt')
  })

  it('is cancelled where its agent is closed, and that of another is no matter', () => {
    const { begin, happens } = threaded()
    const run = begin('one')
    happens(event('state.changed', { state: 'stopped', agentId: 't.1', path: ['t'] }))
    assert.is(run.ending, undefined)
    happens(event('state.changed', { state: 'stopped' }))
    assert.is(run.ending?.type, 'cancelled')
  })

  it('is over once the store has its records, or has failed, and its first ending counts', async () => {
    for (const how of ['resolve', 'reject'] as const) {
      const { begin, agent, happens } = threaded()
      const run = begin('one')
      const stored = Promise.withResolvers<void>()
      agent.stored = stored.promise
      happens(start('r1', 'one'), end('r1'))
      run.finish({ type: 'cancelled' })
      assert.equal([run.isOver, run.ending?.type], [false, 'success'])
      stored[how]()
      await turns()
      assert.is(run.isOver, true)
    }
  })

  it('gives what happened before its first observer to that one alone', () => {
    const { begin, happens } = threaded()
    const run = begin('one')
    happens(event('turn.start', { runId: 'r0' }), start('r1', 'one'))
    const backlog = run.takeBacklog()
    assert.equal(
      backlog?.events.map((one) => [one.event.type, one.isShown]),
      [
        ['turn.start', false],
        ['run.start', true],
      ],
    )
    assert.is(run.takeBacklog(), undefined)
  })
})

describe('a thread', (it) => {
  it('keeps nothing of a run that its agent refuses, at once or later', async () => {
    const { thread, listeners, agent, begin } = threaded()
    const refused = new AgUiRun(thread.activity, 'one', { messageIds: ['m1'] })
    const act = (): never => {
      throw new Error('no')
    }
    assert.throws(() => thread.begin(refused, act), /no/)
    assert.equal([thread.run('one'), thread.knows('m1'), listeners.size], [undefined, false, 0])
    agent.refusal = Promise.reject(new Error('later'))
    const late = begin('two', { messageIds: ['m2'] })
    assert.equal([thread.run('two') === late, thread.knows('m2'), listeners.size], [true, true, 1])
    await assert.rejects(late.taken!, /later/)
    assert.equal([thread.run('two'), thread.knows('m2'), listeners.size], [undefined, false, 0])
  })

  it('remembers its newest 1,000 runs, and of others that they were there', () => {
    const { thread, begin } = threaded()
    for (let n = 0; n <= 1_000; n += 1) begin(`r${n}`).finish({ type: 'success' })
    assert.equal(
      [thread.run('r0'), thread.hadRun('r0'), thread.run('r1')?.runId, thread.hadRun('r1')],
      [undefined, true, 'r1', false],
    )
  })

  it('ends a run by its result where the log does not', async () => {
    const { thread } = threaded()
    const run = new AgUiRun(thread.activity, 'one', {})
    const result = { stopReason: 'aborted', text: '', error: undefined } as never
    thread.begin(run, () => ({ requestId: 'x', result: Promise.resolve(result) }))
    await turns()
    assert.is(run.ending?.type, 'cancelled')
  })

  it('gives messages the ids of its client, in the order in which they were sent, and those of others none', () => {
    const { thread, begin, happens, log } = threaded()
    begin('one', { messageIds: ['m1', 'm2'] })
    begin('two', { messageIds: ['m3'] })
    happens(
      user(1, { provenance: undefined }),
      start('r1', 'one'),
      user(2),
      { ...user(9), agentId: 't.1', path: ['t'] },
      user(3, { source: 'steering' }),
      user(4, { provenance: { type: 'memoryTier', tier: 'ag-ui', recordId: 'x' } }),
      user(5),
      user(6),
    )
    happens(end('r1'), start('r2', 'two'), user(7, {}))
    assert.equal([...thread.activity.messageIds], [
      [2, 'm1'],
      [5, 'm2'],
    ] as never)
    happens({ ...user(8), runId: 'r2' } as never)
    assert.is(thread.activity.messageIds.get(8), 'm3')
    log.push({ id: 2, runId: 'r1', message: { role: 'user', content: [] } })
    assert.equal(
      [thread.knows('m1'), thread.knows('t/n2'), thread.knows('t/n3'), thread.knows('x/n2')],
      [true, true, false, false],
    )
  })

  it('gives the messages of an earlier process the ids of the last ones of its client, and those that have one keep it', () => {
    const { thread, log } = threaded()
    const node = (id: number, runId: string) => ({
      id,
      runId,
      message: { role: 'user', source: 'prompt', content: [] },
    })
    log.push(node(1, 'r0'), node(2, 'r1'), node(3, 'r1'), { ...node(4, 'r1'), message: { role: 'assistant' } })
    thread.activity.messageIds.set(2, 'known')
    const client = ['a', 'b', 'c'].map((id) => ({ id, role: 'user', content: '' }))
    thread.adoptMessageIds([...client, { id: 'x', role: 'assistant', content: '' }] as never, ['r1'])
    assert.equal([...thread.activity.messageIds], [
      [2, 'known'],
      [3, 'c'],
    ] as never)
    assert.equal([thread.knows('c'), thread.knows('b'), thread.knows('a')], [true, false, false])
  })

  it('knows what is under way, of its agent and of those that were called', () => {
    const { thread, begin, happens } = threaded()
    begin('one')
    const { activity } = thread
    happens(start('r1', 'one'), event('turn.start', { turnIndex: 3 }), event('reply.start', { attempt: 1 }))
    happens(
      event('reply.delta', { text: 'He' }),
      event('reply.delta', { text: 'llo' }),
      event('thinking.delta', { text: 'hm' }),
    )
    happens(
      event('toolCall.delta', { callId: 'c', name: 'look', text: '{' }),
      event('toolCall.delta', { callId: 'c', text: '}' }),
    )
    const reply = activity.replies.get('t')
    assert.equal(
      [reply?.text, reply?.thinking, reply?.calls.get('c'), activity.turns.get('t')],
      ['Hello', 'hm', { name: 'look', text: '{}' }, 3],
    )
    happens(event('reply.reset'))
    assert.is(activity.replies.size, 0)
    happens(event('reply.start', { attempt: 2 }), event('reply.end', { message: { content: [] } }))
    assert.is(activity.replies.size, 0)
    happens(event('tool.start', { callId: 'c', childId: 't.1' }), event('tool.start', { callId: 'd' }))
    const below = { agentId: 't.1', path: ['t'], runId: 's' }
    happens(
      event('turn.start', below),
      event('reply.start', { ...below, attempt: 1 }),
      event('turn.start', { ...below, agentId: 'stranger' }),
    )
    assert.equal(
      [activity.childOf({ agentId: 't', callId: 'c' }), [...activity.turns.keys()], [...activity.replies.keys()]],
      ['t.1', ['t', 't.1'], ['t.1']],
    )
    happens(event('turn.end', below), event('run.end', { ...below, stopReason: 'stop' }))
    assert.equal([[...activity.turns.keys()], activity.replies.size, activity.children.size], [['t'], 0, 1])
    happens(event('tool.end', { callId: 'd', message: {} }))
    assert.is(activity.children.size, 1)
    happens(event('tool.end', { callId: 'c', message: {} }))
    assert.is(activity.children.size, 0)
    happens(event('tool.start', { callId: 'e', childId: 't.2' }), event('reply.start', { attempt: 1 }))
    happens(end('r1'))
    assert.equal([activity.children.size, activity.turns.size, activity.replies.size], [0, 0, 0])
  })
})

describe('what is said in AG-UI', (it) => {
  it('is what comes after the last answer, and is not known', () => {
    const knows = (id: string): boolean => id === 'known'
    const said = (...messages: readonly (readonly [role: string, id: string])[]) =>
      newMessages(messages.map(([role, id]) => ({ role, id, content: '' })) as never, { knows }).map(({ id }) => id)
    assert.equal(
      said(['user', 'a'], ['assistant', 'b'], ['user', 'c'], ['user', 'known'], ['system', 's'], ['user', 'd']),
      ['c', 'd'],
    )
    assert.equal(said(['user', 'a'], ['assistant', 'b'], ['tool', 'c'], ['user', 'd']), ['d'])
    assert.equal(said(['user', 'a'], ['tool', 'c']), [])
    assert.equal(said(['user', 'a']), ['a'])
  })

  it('is texts, images and files, and nothing by an address but images', () => {
    const data = { type: 'data', value: 'QQ==', mimeType: 'x/y' } as const
    const url = { type: 'url', value: 'https://a.example' } as const
    const blocks = (...content: readonly object[]) => blocksOf({ id: 'm', role: 'user', content } as never)
    assert.equal(blocksOf({ id: 'm', role: 'user', content: 'a' }), [{ type: 'text', text: 'a' }])
    assert.equal(
      blocks({ type: 'text', text: 'a' }, { type: 'image', source: data }, { type: 'audio', source: data }),
      [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'QQ==', mimeType: 'x/y' },
        { type: 'file', data: 'QQ==', mimeType: 'x/y' },
      ],
    )
    assert.equal(blocks({ type: 'image', source: url }, { type: 'image', source: { ...url, mimeType: 'image/png' } }), [
      { type: 'image', url: url.value },
      { type: 'image', url: url.value, mimeType: 'image/png' },
    ] as never)
    assert.throws(() => blocks({ type: 'document', source: url }), withCode('INVALID_CONTENT', 'document'))
  })

  it('is shown by what kind it is', () => {
    const file = (mimeType: string) => ({ type: 'file', data: 'QQ==', mimeType }) as const
    const shown = contentOf([
      { type: 'text', text: 'a' },
      file('audio/wav'),
      file('video/mp4'),
      file('text/plain'),
      { type: 'image', url: 'https://a.example' },
    ] as never)
    assert.equal(
      (shown as { type: string }[]).map(({ type }) => type),
      ['text', 'audio', 'video', 'document', 'image'],
    )
    assert.is(contentOf([{ type: 'text', text: 'a' }]), 'a')
    assert.equal([argumentsOf({ a: 1 }), argumentsOf('{"a'), argumentsOf(undefined)], ['{"a":1}', '{"a', '{}'])
  })
})
