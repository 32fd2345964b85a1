import { RuntimeError, toErrorInfo } from '../../../src/protocol/errors.ts'
import type { AgUiRun } from '../src/agUiRun.ts'
import type { OpenRun } from '../src/openRun.ts'
import { overSocket } from '../src/overSocket.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { limitsOf } from '../../bridge/src/server/limits.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 10; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A run in which nothing has happened yet. */
function runOf(runId: string) {
  const agent = {
    id: 't',
    clientTools: [],
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
  const state = { backlogs: 0 }
  const run = {
    runId,
    activity: { agent, messages: () => [], replies: new Map(), children: new Map(), turns: new Map() },
    messageIds: [],
    pendingMessageIds: [],
    isLive: false,
    isOver: false,
    ending: undefined as object | undefined,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    observers: new Set<{ over(ending?: object): void }>(),
    takeBacklog: () => void (state.backlogs += 1),
  }
  return { run, state }
}

function talked({ subscriptions = 3, waitingCommands = 5 } = {}) {
  const sent: { type: string; runId?: string; threadId?: string; code?: string; message?: string }[] = []
  let [take, leave] = [(_: string): void => {}, (): void => {}]
  const socket = {
    bufferedAmount: 0,
    send: (text: string, done?: () => void) => {
      sent.push(JSON.parse(text) as (typeof sent)[number])
      done?.()
    },
    close: () => {},
    onText: (listener: typeof take) => void (take = listener),
    onClose: (listener: () => void) => void (leave = listener),
  }
  const opening: (PromiseWithResolvers<AgUiRun> & { readonly runId: string })[] = []
  const access = {
    limits: limitsOf({ subscriptions, waitingCommands }),
    outward: (thrown: unknown) => toErrorInfo(thrown, 'INTERNAL'),
  } as unknown as AgentAccess
  const open: OpenRun = ({ runId }) => {
    opening.push({ ...Promise.withResolvers<AgUiRun>(), runId })
    return opening.at(-1)!.promise
  }
  overSocket(socket, access, { open, abortOnLeave: false })
  const say = (runId: string): void =>
    take(JSON.stringify({ threadId: 't', runId, messages: [], tools: [], context: [], protocolVersion: '1.0' }))
  /** Begins the run that is being opened. */
  const begin = async () => {
    const { runId, resolve } = opening.at(-1)!
    const made = runOf(runId)
    resolve(made.run as unknown as AgUiRun)
    await turns()
    return made
  }
  return { sent, opening, say, begin, take: (text: string) => take(text), leave: () => leave() }
}

describe('runs of AG-UI over one socket', (it) => {
  it('begin one after the other, and have their ids on everything', async () => {
    const { say, begin, opening, sent } = talked()
    say('r1')
    say('r2')
    await turns()
    assert.equal(
      opening.map(({ runId }) => runId),
      ['r1'],
    )
    await begin()
    assert.equal(
      opening.map(({ runId }) => runId),
      ['r1', 'r2'],
    )
    assert.equal([sent[0]?.type, sent[0]?.runId, sent[0]?.threadId], ['RUN_STARTED', 'r1', 't'])
    assert.ok(sent.every(({ runId }) => runId === 'r1'))
    await begin()
    assert.is(sent.at(-1)?.runId, 'r2')
  })

  it('are refused with why, and those behind them begin', async () => {
    const { say, opening, sent } = talked()
    say('r1')
    say('r2')
    await turns()
    opening[0]!.reject(new RuntimeError('BRIDGE_FORBIDDEN', 'Not you.'))
    await turns()
    assert.equal(
      [sent[0]?.type, sent[0]?.runId, sent[0]?.threadId, sent[0]?.code],
      ['RUN_ERROR', 'r1', 't', 'BRIDGE_FORBIDDEN'],
    )
    assert.match(sent[0]!.message!, 'Not you.')
    assert.is(opening.length, 2)
  })

  it('are as many as may be, until one has ended', async () => {
    const { say, begin, opening, sent } = talked({ subscriptions: 1 })
    say('r1')
    await turns()
    const { run } = await begin()
    say('r2')
    await turns()
    assert.equal([sent.at(-1)?.code, sent.at(-1)?.runId, opening.length], ['BRIDGE_LIMIT', 'r2', 1])
    for (const observer of run.observers) observer.over({ type: 'success' })
    assert.is(sent.at(-1)?.type, 'RUN_FINISHED')
    say('r3')
    await turns()
    assert.is(opening.length, 2)
  })

  it('wait to be begun, and no more of them than may', async () => {
    const { say, begin, sent, opening } = talked({ waitingCommands: 5 })
    for (let n = 1; n <= 5; n += 1) say(`r${n}`)
    await turns()
    assert.equal(sent, [])
    say('r6')
    assert.equal(
      sent.map(({ code }) => code),
      ['BRIDGE_LIMIT'],
    )
    await begin()
    say('r7')
    await turns()
    assert.equal([sent.filter(({ code }) => code !== undefined).length, opening.length], [1, 2])
  })

  it('are refused where it is no request', async () => {
    const { take, sent, opening } = talked()
    take('{')
    await turns()
    assert.equal([sent[0]?.type, sent[0]?.runId, opening.length], ['RUN_ERROR', undefined, 0])
  })

  it('are let go of with their client, also one that opens only then', async () => {
    const { say, begin, leave, sent, opening } = talked()
    say('r1')
    await turns()
    const { run } = await begin()
    assert.is(run.observers.size, 1)
    say('r2')
    say('r3')
    await turns()
    const count = sent.length
    leave()
    assert.is(run.observers.size, 0)
    const late = await begin()
    assert.equal([late.state.backlogs, late.run.observers.size], [1, 0])
    opening.at(-1)!.reject(new Error('late'))
    await turns()
    assert.is(sent.length, count)
  })
})
