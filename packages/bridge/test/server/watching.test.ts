import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { RosterChange } from '../../src/client/remoteRoster.ts'
import type { AgentSummary } from '../../../wire/src/frames.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { gate, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { startCutter } from './cutter.ts'
import { Heard, logOf, serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length}`) })

/** Keeps what a watcher knows. */
class Watched {
  readonly agents = new Map<string, AgentSummary>()
  readonly changes: RosterChange[] = []
  #look: () => void = () => {}
  readonly take = (change: RosterChange): void => {
    this.changes.push(change)
    for (const id of change.gone) this.agents.delete(id)
    for (const agent of change.agents) this.agents.set(agent.agentId, agent)
    this.#look()
  }

  until(fits: (watched: Watched) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (fits(this)) resolve()
      }
      this.#look()
    })
  }
}

const ids = ({ agents }: Watched): string[] => [...agents.keys()].toSorted()

describe('who watches a server', (it) => {
  it('hears at once which agents there are, also when there are none', async (context) => {
    const serving = await serveAgents(context, [echo])
    const empty = new Watched()
    serving.connect().watch(empty.take)
    await empty.until(({ changes }) => changes.length > 0)
    assert.equal(empty.changes, [{ agents: [], gone: [] }])
    await serving.runtime.spawn(echo, { id: 'a1' })
    const full = new Watched()
    serving.connect().watch(full.take)
    await full.until(({ agents }) => agents.has('a1'))
    const { state, definition, path, head, spent } = full.agents.get('a1')!
    assert.equal([state, definition, path, head, spent.turns], ['idle', 'echo', [], null, 0])
  })

  it('hears of what comes, changes and goes, sub-agents included, and of nothing that stays', async (context) => {
    const open = gate()
    const worker = defineAgent({
      name: 'worker',
      description: 'works',
      model: policyModel(async () => (await open.promise, 'done')),
    })
    const boss = defineAgent({
      name: 'boss',
      agents: [worker],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [{ name: 'worker', input: { task: 'x' } }] } : 'fine',
      ),
    })
    const serving = await serveAgents(context, [boss, echo])
    const watched = new Watched()
    const client = serving.connect()
    client.watch(watched.take)
    const agent = await client.spawn('boss', { id: 'b1' })
    await serving.runtime.spawn(echo, { id: 'still' })
    const run = agent.prompt('go')
    await watched.until(({ agents }) => agents.size === 3)
    const child = ids(watched).find((id) => id !== 'b1' && id !== 'still')!
    assert.equal(watched.agents.get(child)!.path, ['b1'])
    open.resolve()
    await run.result
    await watched.until(({ agents }) => agents.size === 2 && agents.get('b1')!.state === 'idle')
    assert.is(watched.agents.get('b1')!.spent.turns, 3)
    assert.is(watched.changes.filter(({ agents }) => agents.some(({ agentId }) => agentId === 'still')).length, 1)
  })

  it('is told at most a few times a second, however much happens', async (context) => {
    const clock = simulatedClock()
    const serving = await serveAgents(context, [echo], { runtime: { clock } })
    const watched = new Watched()
    const client = serving.connect()
    client.watch(watched.take)
    const agent = await client.spawn('echo', { id: 'a1' })
    for (let run = 0; run < 5; run += 1) await agent.prompt('x').result
    assert.is(watched.changes.length, 1)
    await clock.advance(250)
    await watched.until(({ agents }) => agents.get('a1')?.spent.turns === 5)
    assert.is(watched.changes.length, 2)
  })

  it('hears after a reconnect what went meanwhile', async (context) => {
    const serving = await serveAgents(context, [echo])
    const wire = await startCutter(context, serving.server.port)
    const client = serving.connect({}, wire.url)
    const gone = await serving.runtime.spawn(echo, { id: 'gone' })
    await serving.runtime.spawn(echo, { id: 'stays' })
    const watched = new Watched()
    client.watch(watched.take)
    await watched.until(({ agents }) => agents.size === 2)
    wire.hold()
    await gone.stop()
    wire.cut()
    wire.release()
    await watched.until(({ agents }) => agents.size === 1)
    assert.equal(ids(watched), ['stays'])
  })

  it('hears only of agents its token reaches, and no more once it has left', async (context) => {
    const tokens = { 'some-token-0123456789': { role: 'observe', agents: ['mine'] } } as const
    const serving = await serveAgents(context, [echo], { tokens })
    for (const id of ['mine', 'other']) await serving.runtime.spawn(echo, { id })
    const client = serving.connect({ token: 'some-token-0123456789' })
    const [one, two] = [new Watched(), new Watched()]
    const leave = client.watch(one.take)
    client.watch(two.take)
    await two.until(({ agents }) => agents.size > 0)
    assert.equal([ids(one), ids(two)], [['mine'], ['mine']])
    leave()
    leave()
    const heard = one.changes.length
    await serving.runtime.agent('mine')!.prompt('x').result
    await two.until(({ agents }) => agents.get('mine')!.spent.turns === 1)
    assert.is(one.changes.length, heard)
  })
})

describe('an agent that does not run', (it) => {
  const stopped = async (): Promise<ReturnType<typeof memoryStore>> => {
    const store = memoryStore()
    const before = await createRuntime({ store: { ...store, close: async () => {} } })
    await (await before.spawn(echo, { id: 'past' })).prompt('x').result
    await before.close()
    return store
  }

  it('is seen without being woken', async (context) => {
    const store = await stopped()
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const client = serving.connect()
    const agent = client.agent('past')
    const heard = new Heard()
    agent.subscribe(heard.listen, { fromSeq: 1 })
    await heard.until(({ type }) => type === 'run.end')
    const { state, spent } = await agent.snapshot()
    assert.equal([state, spent.turns], ['closed', 1])
    assert.is((await agent.conversation('log')).nodes.length, 2)
    assert.is(serving.runtime.agent('past'), undefined)
  })

  it('is heard as soon as it runs again, whoever woke it', async (context) => {
    const store = await stopped()
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const heard = new Heard()
    const agent = serving.connect().agent('past')
    agent.subscribe(heard.listen, { fromSeq: 1 })
    await heard.until(({ type }) => type === 'run.end')
    const local = await serving.runtime.resume('past', echo)
    await local.prompt('y').result
    await heard.until((event) => event.type === 'run.end' && event.seq === local.lastSeq)
    assert.equal(heard.logged, await logOf(store, 'past'))
    assert.ok(heard.events.some(({ type }) => type === 'reply.delta'))
  })

  it('tells of calls that wait for a decision', async (context) => {
    const store = memoryStore()
    const careful = defineAgent({
      name: 'careful',
      tools: [tool('look', () => 'seen', { needsApproval: true })],
      model: policyModel(() => ({ toolCalls: [{ name: 'look', input: { at: 1 } }] })),
    })
    const before = await createRuntime({ store: { ...store, close: async () => {} } })
    const agent = await before.spawn(careful, { id: 'held' })
    const asked = new Heard()
    agent.subscribe(asked.listen)
    agent.prompt('x')
    await asked.until(({ type }) => type === 'approval.requested')
    const [waiting] = agent.approvals()
    await before.close()
    const serving = await serveAgents(context, [careful], { runtime: { store } })
    const { approvals, pendingApprovals } = await serving.connect().agent('held').snapshot()
    assert.equal(approvals, [waiting!])
    assert.equal(pendingApprovals, [waiting!.key])
  })

  it('is in the list of sessions, with what was spent on it', async (context) => {
    const serving = await serveAgents(context, [echo], { runtime: { store: await stopped() } })
    await (await serving.runtime.spawn(echo, { id: 'now' })).prompt('x').result
    const client = serving.connect()
    const { sessions, total } = await client.sessions()
    assert.is(total, 2)
    const past = sessions.find(({ agentId }) => agentId === 'past')!
    assert.equal(
      [past.definition, past.status, past.turns, past.runs, past.isStopped],
      ['echo', 'completed', 1, 1, false],
    )
    const first = await client.sessions({ limit: 1 })
    const second = await client.sessions({ limit: 1, after: first.sessions[0]!.agentId })
    assert.equal([...first.sessions, ...second.sessions], sessions)
    await assert.rejects(client.sessions({ after: 'nobody' }), /none of them/)
  })
})
