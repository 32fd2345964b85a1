import type { AgentContext, SessionUpdate } from '@agentclientprotocol/sdk'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { limitsOf } from '../../bridge/src/server/limits.ts'
import { AcpSession } from '../src/acpSession.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 10; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

const waits = { kind: 'approval', agentId: 's', callId: 'c', key: 'k', name: 'pay', input: {} } as const

/** An agent that does nothing, and says what was done to it. */
function agentOf() {
  const listeners = new Set<(event: AgentEvent) => unknown>()
  const done: string[] = []
  const ended = Promise.withResolvers<{ readonly stopReason: string }>()
  let aborts = (): void => void done.push('abort')
  const agent = {
    id: 's',
    definition: 'worker',
    conversation: { trunk: () => [], log: () => [], abandoned: () => [] },
    pending: () => [waits],
    subscribe: (listener: (event: AgentEvent) => unknown) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    abort: () => aborts(),
    dispatch: ({ type }: { readonly type: string }) => {
      done.push(type)
      return { requestId: 'r', result: ended.promise }
    },
    close: async () => void done.push('close'),
  }
  const tell = (type: string, more: object): void => {
    const event = { v: 3, type, agentId: 's', path: [], seq: 1, time: 0, runId: 'run', turnIndex: 0, ...more }
    for (const listener of listeners) listener(event as never)
  }
  const fail = (thrown: unknown): void => {
    aborts = () => {
      throw thrown
    }
  }
  return {
    agent: agent as unknown as DrivenAgent,
    done,
    listeners,
    tell,
    fail,
    end: () => ended.resolve({ stopReason: 'stop' }),
  }
}

/** A session on an agent, what its client was told, and the signal of its question. */
function opened({ isSlow = false } = {}) {
  const told: SessionUpdate[] = []
  const asked: AbortSignal[] = []
  const one = agentOf()
  const reads = Promise.withResolvers<void>()
  const client = {
    notify: async (_: string, { update }: { readonly update: SessionUpdate }) => {
      told.push(update)
      if (isSlow) await reads.promise
    },
    request: (_: string, __: object, { cancellationSignal }: { readonly cancellationSignal: AbortSignal }) => {
      asked.push(cancellationSignal)
      return new Promise(() => {})
    },
  }
  let next = one.agent
  const access = {
    limits: limitsOf(),
    newId: () => 'own',
    may: () => true,
    driven: async () => next,
  }
  const session = new AcpSession(one.agent, {
    access: access as unknown as AgentAccess,
    client: client as unknown as AgentContext,
    showsCompactions: false,
    hasForms: false,
    isClosed: () => false,
    disconnect: () => {},
  })
  const wakesAs = (agent: DrivenAgent): void => void (next = agent)
  return { ...one, session, told, asked, reads, wakesAs }
}

const said = [{ type: 'text', text: 'go' }] as const
const text = (words: string) => ({
  message: { role: 'user', content: [{ type: 'text', text: words }] },
  nodeId: 1,
  parentId: null,
})

describe('a session of ACP', (it) => {
  it('listens to the agent that it has now, and to none once it is detached', () => {
    const { session, listeners } = opened()
    const [next, last] = [agentOf(), agentOf()]
    assert.is(listeners.size, 1)
    session.attach(next.agent)
    session.attach(next.agent)
    assert.equal([listeners.size, next.listeners.size], [0, 1])
    session.detach()
    assert.is(next.listeners.size, 0)
    session.attach(last.agent)
    assert.is(last.listeners.size, 0)
  })

  it('that is detached takes back what it asked, and sends nothing more', async () => {
    const { session, asked, told, tell, reads } = opened({ isSlow: true })
    for (const words of ['one', 'two', 'three']) tell('message.added', text(words))
    await turns()
    const before = told.length
    assert.is(before, 1)
    session.askPending()
    session.detach()
    reads.resolve()
    await turns()
    assert.is(told.length, before)
    assert.ok(asked.every(({ aborted }) => aborted))
    const other = opened()
    other.session.askPending()
    other.session.askPending()
    await turns()
    assert.equal(
      other.asked.map(({ aborted }) => aborted),
      [false],
    )
    other.session.detach()
    assert.equal(
      other.asked.map(({ aborted }) => aborted),
      [true],
    )
  })

  it('tells nothing of an agent that nobody sees, and no file of the server', async () => {
    const { told, tell } = opened()
    tell('message.added', { ...text('unseen'), incognito: true })
    tell('message.added', text('seen'))
    await turns()
    assert.not.ok(JSON.stringify(told).includes('unseen'))
    assert.ok(JSON.stringify(told).includes('seen'))
  })

  it('aborts by the signal of a prompt only while that is under way', async () => {
    const { session, done, end } = opened()
    const [first, second] = [new AbortController(), new AbortController()]
    const answer = session.prompt(said, first.signal)
    end()
    assert.is((await answer).stopReason, 'end_turn')
    first.abort()
    assert.equal(done, ['agent.prompt'])
    const again = session.prompt(said, second.signal)
    const third = session.prompt(said, first.signal)
    second.abort()
    await assert.rejects(third, /one at a time/)
    assert.is((await again).stopReason, 'cancelled')
    assert.equal(done, ['agent.prompt', 'abort'])
  })

  it('aborts the run that it asked for, however late that begins, and no other', async () => {
    const { session, done, tell } = opened()
    void session.prompt(said, new AbortController().signal)
    await turns()
    session.cancel()
    tell('run.start', { requestId: 'of another', cause: 'prompt' })
    assert.equal(done, ['agent.prompt', 'abort'])
    tell('run.start', { requestId: 'own', cause: 'prompt' })
    assert.equal(done, ['agent.prompt', 'abort', 'abort'])
  })

  it('has nothing to abort of an agent that has ended, and hides no other failure', () => {
    const { session, fail } = opened()
    fail(new RuntimeError('AGENT_STOPPED', 'over'))
    session.cancel()
    fail(new TypeError('a bug'))
    assert.throws(() => session.cancel(), /a bug/)
  })
})
