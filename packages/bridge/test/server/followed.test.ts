import { createRuntime } from '../../src/createRuntime.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { LogRecord, Spent } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { FollowedTree } from '../../src/server/followedTree.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { until } from '../../../../test/support/lives.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { approving } from './bridgeHarness.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve))
}
/** When it was asked is known from the log alone. */
const unasked = ({ askedAt: _, ...pending }: Pending): object => pending
/** Turns below are counted by those below. */
const costOf = ({ turns: _, ...cost }: Spent): object => cost
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** An agent that waits for an approval below it, and a tree that follows it by its store alone. */
async function waiting({ cleanup }: CaseContext) {
  const { boss } = approving()
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close().catch(() => {}))
  const agent = await runtime.spawn(boss, { id: 'a' })
  const run = agent.prompt('go')
  await until(agent, ({ type }) => type === 'approval.requested')
  for (const one of [agent, ...agent.children()]) await one.durable()
  const clock = simulatedClock()
  const tree = new FollowedTree({ store, clock, agent: () => undefined }, 'a')
  const check = async (): Promise<void> => {
    await tree.catchUp()
    const { root } = tree
    assert.equal(
      asJson([
        root.lastSeq,
        root.isInRun,
        root.pause,
        costOf(root.spent),
        root.pending().map(unasked),
        root.conversation.trunk(),
      ]),
      asJson([
        agent.lastSeq,
        run.result !== undefined && agent.state !== 'idle',
        agent.pause,
        costOf(agent.spent),
        agent.pending(),
        agent.conversation.trunk(),
      ]),
    )
    assert.equal(
      root.tree().children.map(({ id, definition }) => [id, definition]),
      agent.children().map(({ id, definition }) => [id, definition]),
    )
  }
  return { agent, run, tree, clock, store, check, runtime }
}

describe('an agent that is followed by its log', (it) => {
  it('is as it is itself, while it waits and once it has gone on, with those below it', async (context) => {
    const { agent, run, tree, check } = await waiting(context)
    await check()
    assert.equal([tree.root.pending().length, tree.root.tree().definition], [1, 'boss'])
    agent.decide(agent.pending()[0]!.key, 'approve')
    await run.result
    await agent.durable()
    await check()
    assert.equal([tree.root.pending(), tree.root.state, tree.root.below.size], [[], 'idle', 0])
    await agent.stop()
    await tree.catchUp()
    assert.is(tree.root.state, 'stopped')
  })

  it('is told record by record, each once, those below where that is wanted, and what changed of its state', async (context) => {
    const { agent, run, tree, clock } = await waiting(context)
    const [own, all]: [AgentEvent[], AgentEvent[]] = [[], []]
    const ends = [
      tree.subscribe((event) => void own.push(event)),
      tree.subscribe((event) => void all.push(event), { descendants: true }),
    ]
    await clock.advance(200)
    await turns()
    const records = (events: readonly AgentEvent[], id: string): number[] =>
      events.flatMap(({ agentId, seq, type }) => (agentId === id && type !== 'state.changed' ? [seq] : []))
    const counted = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1)
    assert.equal(records(own, 'a'), counted(agent.lastSeq))
    assert.equal(records(all, 'a.1'), counted(agent.children()[0]!.lastSeq))
    assert.equal(
      own.filter(({ agentId }) => agentId !== 'a').map(({ type }) => type),
      ['approval.requested'],
    )
    const states = own.flatMap((event) =>
      event.type === 'state.changed' && event.agentId === 'a' ? [event.previous, event.state] : [],
    )
    assert.is(states[0], 'idle')
    agent.decide(agent.pending()[0]!.key, 'approve')
    await run.result
    await agent.durable()
    await clock.advance(199)
    const before = own.length
    await clock.advance(1)
    await turns()
    assert.ok(own.length > before)
    assert.equal(records(own, 'a'), counted(agent.lastSeq))
    const end = own.findLast((event) => event.type === 'state.changed')
    assert.is(end?.type === 'state.changed' && end.state, 'idle')
    // A call ends after what led to it.
    const order = all.map(({ agentId, type }) => `${agentId} ${type}`)
    assert.ok(order.indexOf('a tool.end') > order.lastIndexOf('a.1 run.end'))
    ends[0]!()
    assert.is(clock.pending, 1)
    ends[1]!()
    assert.is(clock.pending, 0)
  })

  it('fails with its store, but not for one below that is not begun yet, and is looked at again', async () => {
    const log: LogRecord[] = []
    const state = { failure: undefined as Error | undefined }
    const store = {
      // eslint-disable-next-line require-yield
      async *read(id: string, from = 1) {
        if (state.failure !== undefined) throw state.failure
        if (id !== 'a') throw new RuntimeError('AGENT_NOT_FOUND', 'none')
        yield* log.slice(from - 1)
      },
    } as unknown as Store
    const clock = simulatedClock()
    const tree = new FollowedTree({ store, clock, agent: () => undefined }, 'a')
    log.push({ v: 3, seq: 1, time: 0, type: 'child.spawned', runId: 'r', turnIndex: 0, childId: 'a.1' } as never)
    await tree.catchUp()
    assert.equal([tree.root.lastSeq, [...tree.root.below.keys()]], [1, ['a.1']])
    state.failure = new RuntimeError('STORE_READ_FAILED', 'no')
    await assert.rejects(tree.catchUp(), /no/)
    state.failure = undefined
    log.push({ v: 3, seq: 2, time: 0, type: 'child.ended', runId: 'r', turnIndex: 0, childId: 'a.1' } as never)
    await Promise.all([tree.catchUp(), tree.catchUp()])
    assert.equal([tree.root.lastSeq, tree.root.below.size], [2, 0])
  })

  it('tells what no log has in its place, where it works here, but not of what is incognito or its state', async (context) => {
    const { agent, store, clock } = await waiting(context)
    const heard: AgentEvent[] = []
    let tell: (event: AgentEvent) => unknown = () => {}
    const state = { subscribed: 0, durable: undefined as Promise<void> | undefined }
    const here = (growing?: string) =>
      ({
        growingReply: growing === undefined ? undefined : { runId: 'r', turnIndex: 0, text: growing, thinking: '' },
        durable: () => state.durable,
        subscribe: (listener: typeof tell) => {
          tell = listener
          state.subscribed += 1
          return () => void (state.subscribed -= 1)
        },
      }) as unknown as Agent
    const place = { agent: here() as Agent | undefined }
    const tree = new FollowedTree({ store, clock, agent: () => place.agent }, 'a')
    await tree.catchUp()
    const end = tree.subscribe((event) => void heard.push(event))
    assert.is(state.subscribed, 1)
    const live = (type: string, more: object = {}): AgentEvent =>
      ({ type, agentId: 'a', path: [], seq: agent.lastSeq, time: 0, runId: 'r', turnIndex: 0, ...more }) as never
    // Of a reply whose beginning was not heard.
    for (const type of ['reply.delta', 'thinking.delta']) tell(live(type, { text: 'x', offset: 7 }))
    assert.is(tree.root.growing, undefined)
    heard.length = 0
    tell(live('reply.start'))
    tell(live('reply.delta', { text: 'He', offset: 0 }))
    tell(live('reply.delta', { text: 'llo', offset: 2 }))
    tell(live('thinking.delta', { text: 'hm', offset: 0 }))
    tell(live('reply.delta', { text: 'secret', offset: 5, incognito: true }))
    tell(live('state.changed', { state: 'x', previous: 'y' }))
    tell(live('reply.delta', { text: 'of nobody', offset: 0, agentId: 'b' }))
    assert.equal(
      heard.map(({ type }) => type),
      ['reply.start', 'reply.delta', 'reply.delta', 'thinking.delta'],
    )
    assert.equal([tree.root.growing?.text, tree.root.growing?.thinking], ['Hello', 'hm'])
    // What comes after a record that is not read yet waits for it, and not for ever.
    heard.length = 0
    for (let n = 0; n < 4_097; n += 1) tell(live('model.warning', { seq: agent.lastSeq + 1, message: `${n}` }))
    assert.equal(heard, [])
    agent.decide(agent.pending()[0]!.key, 'deny')
    await agent.settled()
    await agent.durable()
    await tree.catchUp()
    assert.is(heard.filter(({ type }) => type === 'model.warning').length, 1)
    // Another life of it is heard instead.
    tree.began(here('Again'))
    assert.equal([state.subscribed, tree.root.growing?.text], [1, 'Again'])
    end()
    assert.is(state.subscribed, 0)
    tree.began(here())
    assert.is(state.subscribed, 0)
  })

  it('is read whenever a record of it is written here, and not where it could not be', async (context) => {
    const { agent, store, clock } = await waiting(context)
    let tell: (event: AgentEvent) => unknown = () => {}
    const state = { durable: undefined as Promise<void> | undefined, reads: 0 }
    const counting = {
      ...store,
      read(...given: Parameters<Store['read']>) {
        state.reads += 1
        return store.read(...given)
      },
    } as Store
    const here = {
      durable: () => state.durable,
      subscribe: (listener: typeof tell) => {
        tell = listener
        return () => {}
      },
    } as unknown as Agent
    const tree = new FollowedTree({ store: counting, clock, agent: () => here }, 'a')
    tree.subscribe(() => {})
    const record = { v: 3, type: 'turn.start', agentId: 'a', path: [], seq: agent.lastSeq, time: 0 } as never
    const readsAfter = async (durable: Promise<void> | undefined): Promise<boolean> => {
      const before = state.reads
      state.durable = durable
      tell(record)
      await turns()
      return state.reads > before
    }
    assert.is(await readsAfter(undefined), true)
    assert.is(await readsAfter(Promise.resolve()), true)
    assert.is(await readsAfter(Promise.reject(new Error('full'))), false)
    assert.is(await readsAfter(new Promise(() => {})), false)
    tree.close()
  })
})
