import type { AgentEvent } from '../../../src/protocol/events.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { ChatThread, type ReadLog } from '../src/chatThread.ts'

/** An agent that says what the case says, and its log. */
function threadOf(read: ReadLog = async function* () {}) {
  const listeners = new Set<(event: AgentEvent) => unknown>()
  const state = { wakes: 0 }
  const agent = {
    id: 'a',
    incognito: false,
    lastSeq: 0,
    growingReply: undefined,
    conversation: { state: undefined },
    pause: null,
    state: 'idle',
    pending: () => [],
    children: () => [],
    tree: () => ({ id: 'a', state: 'idle', children: [] }),
    durable: () => undefined,
    wake: async () => void (state.wakes += 1),
    subscribe: (listener: (event: AgentEvent) => unknown) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const tell = (type: string, more: object = {}): void => {
    const event = { v: 3, type, agentId: 'a', path: [], seq: 1, time: 0, runId: 'r', turnIndex: 0, ...more }
    for (const listener of listeners) listener(event as never)
  }
  const aborted: string[] = []
  const view = (name: string) => ({ take: () => {}, wait: () => {}, abort: () => void aborted.push(name) })
  const thread = new ChatThread(agent as unknown as DrivenAgent, read)
  return { agent, state, thread, listeners, tell, view, aborted }
}

const begins = { requestId: 'm1', cause: 'prompt', messages: 1 }

describe('the thread of a chat', (it) => {
  it('listens once, for as long as somebody holds or watches it', async () => {
    const { thread, listeners, view } = threadOf()
    await Promise.all([thread.follow(), thread.follow()])
    assert.is(listeners.size, 1)
    thread.release()
    assert.is(listeners.size, 1)
    const [one, other] = [view('one'), view('other')]
    thread.add(one)
    thread.add(other)
    thread.release()
    thread.remove(one)
    assert.is(listeners.size, 1)
    thread.remove(other)
    assert.is(listeners.size, 0)
    await thread.follow()
    assert.is(listeners.size, 1)
    thread.release()
    assert.is(listeners.size, 0)
  })

  it('listens until what is under way has ended', async () => {
    const { thread, listeners, tell } = threadOf()
    await thread.follow()
    tell('run.start', begins)
    thread.release()
    assert.equal([thread.isUnderWay, listeners.size], [true, 1])
    tell('run.end', { stopReason: 'stop', usage: {}, turns: 1, costUsd: 0 })
    tell('state.changed', { state: 'idle', previous: 'replying' })
    assert.equal([thread.isUnderWay, listeners.size], [false, 0])
  })

  it('that cannot read its log is held by nobody, and may be followed again', async () => {
    let fails = true
    const { thread, listeners } = threadOf(async function* () {
      if (fails) throw new Error('no disk')
      yield* []
    })
    await assert.rejects(Promise.all([thread.follow(), thread.follow()]), /no disk/)
    fails = false
    await thread.follow()
    assert.is(listeners.size, 1)
    thread.release()
    assert.is(listeners.size, 0)
  })

  it('breaks off what it shows once its agent is stopped, and not for another one', async () => {
    const { thread, listeners, tell, view, aborted } = threadOf()
    await thread.follow()
    thread.add(view('one'))
    tell('state.changed', { agentId: 'a.1', path: ['a'], state: 'stopped', previous: 'idle' })
    assert.equal([aborted, listeners.size], [[], 1])
    tell('state.changed', { state: 'stopped', previous: 'idle' })
    assert.equal([aborted, listeners.size], [['one'], 0])
  })

  it('gives up to catch up with a log that never does', async () => {
    const { thread, state, agent } = threadOf(async function* () {
      yield { v: 3, type: 'turn.start', seq: 1, time: 0, runId: 'r', turnIndex: 0 } as never
    })
    agent.lastSeq = 2
    await thread.follow()
    assert.is(state.wakes, 20)
  })
})
