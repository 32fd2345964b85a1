import { z } from 'zod'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent, defineTool, policyModel, type AgentDefinition, type Store } from '../../src/index.ts'
import { exportSession, importSession, loadSession } from '../../src/sessions.ts'
import { storedSnapshot } from '../../packages/bridge/src/server/snapshots.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { asks, caller, logOf, until } from '../support/lives.ts'
import { sharedStore } from '../support/sharedStore.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** Answers once the gate is open. */
const slow = (name: string, opened: Promise<void> = new Promise(() => {}), more: object = {}): AgentDefinition =>
  defineAgent({ name, model: policyModel(() => opened.then(() => `${name} answers`)), ...more })

const quick = (name: string, more: object = {}): AgentDefinition => slow(name, Promise.resolve(), more)

async function open({ cleanup }: Pick<CaseContext, 'cleanup'>, store: Store): Promise<Runtime> {
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  return runtime
}

/** Lets go of everything as if the process had died. */
const die = (runtime: Runtime): Promise<void> => runtime.close({ detach: true })

const sorted = (agents: readonly { readonly id: string }[]): string[] => agents.map(({ id }) => id).toSorted()
const whyLeft = (left: readonly { readonly agentId: string; readonly error: { readonly code: string } }[]) =>
  Object.fromEntries(left.map(({ agentId, error }) => [agentId, error.code]))

/** Counts the records that are read, by log. */
function counting(store: Store): { readonly store: Store; readonly read: Map<string, number> } {
  const read = new Map<string, number>()
  const counted: Store = {
    ...store,
    async *read(agentId, fromSeq, limit) {
      for await (const record of store.read(agentId, fromSeq, limit)) {
        read.set(agentId, (read.get(agentId) ?? 0) + 1)
        yield record
      }
    },
  }
  return { store: counted, read }
}

describe('runtime.resumeAll', (it) => {
  it('goes on with interrupted runs and messages that had not begun, and with nothing else', async (test) => {
    const store = sharedStore(memoryStore())
    const before = await open(test, store)
    const busy = await before.spawn(slow('talker'), { id: 'busy' })
    busy.prompt('Hello')
    const queued = await before.spawn(slow('talker'), { id: 'queued' })
    queued.prompt('One')
    queued.prompt('Two')
    const rests = await before.spawn(quick('talker'), { id: 'rests' })
    await rests.prompt('Hello').result
    const limited = await before.spawn(
      defineAgent({ name: 'asker', model: caller(['look']), tools: [asks('look')], limits: { turns: 1 } }),
      { id: 'waits' },
    )
    limited.prompt('go')
    await until(limited, ({ type }) => type === 'approval.requested')
    const paused = await before.spawn(
      defineAgent({
        name: 'limited',
        limits: { turns: 1 },
        model: caller(['free']),
        tools: [defineTool({ name: 'free', description: 'Free.', input: z.object({}), run: () => 'x' })],
      }),
      { id: 'paused' },
    )
    await paused.prompt('go').result
    const ended = await before.spawn(slow('talker'), { id: 'ended' })
    ended.prompt('Hello')
    await ended.stop()
    await Promise.all([busy.durable(), queued.durable()])
    await die(before)

    const after = await open(test, store)
    const definitions = [
      quick('talker'),
      defineAgent({ name: 'asker', model: caller(['look']), tools: [asks('look')] }),
      quick('limited'),
    ]
    const { resumed, left } = await after.resumeAll({ definitions })
    assert.equal(sorted(resumed), ['busy', 'queued'])
    assert.equal(left, [])
    assert.equal(sorted(after.agents()), ['busy', 'queued'])
    for (const agent of resumed) await agent.settled()
    assert.is((await logOf(store, 'queued')).filter(({ type }) => type === 'reply.end').length, 2)
    // A second time there is nothing left to do.
    assert.equal(await after.resumeAll({ definitions }), { resumed: [], left: [] })
  })

  it('names none as left that somebody else has asked for meanwhile', async (test) => {
    const store = sharedStore(memoryStore())
    const before = await open(test, store)
    const busy = await before.spawn(slow('talker'), { id: 'busy' })
    busy.prompt('Hello')
    await busy.durable()
    await die(before)
    const after = await open(test, store)
    const where = async ({ id }: { readonly id: string }): Promise<boolean> =>
      after.resume(id, quick('talker')).then(() => true)
    assert.equal(await after.resumeAll({ definitions: [quick('talker')], where }), { resumed: [], left: [] })
    assert.equal(sorted(after.agents()), ['busy'])
  })

  it('leaves alone those that run here already, and reads nothing of them', async (test) => {
    const shared = sharedStore(memoryStore())
    const before = await open(test, shared)
    for (const id of ['a', 'b']) await before.spawn(slow('talker'), { id })
    for (const agent of before.agents()) agent.prompt('Hello')
    for (const agent of before.agents()) await agent.durable()
    await die(before)
    const { store, read } = counting(shared)
    const after = await open(test, store)
    const own = await after.resume('a', slow('talker'))
    read.clear()
    const { resumed, left } = await after.resumeAll({ definitions: [quick('talker')] })
    assert.equal([sorted(resumed), left, read.get('a')], [['b'], [], undefined])
    assert.is(after.agent('a'), own)
  })

  it('brings sub-agents back with their roots, and those that work on their own with who called them', async (test) => {
    const store = sharedStore(memoryStore())
    const inner = slow('inner')
    const team = (below: AgentDefinition, detach?: 'report'): AgentDefinition =>
      defineAgent({
        name: detach === undefined ? 'caller' : 'sender',
        model: policyModel(({ messages }) =>
          messages.at(-1)!.role === 'toolResult' || messages.length > 2
            ? 'done'
            : { toolCalls: [{ name: 'inner', input: { task: 'x' } }] },
        ),
        agents: [detach === undefined ? below : { definition: below, detach }],
      })
    const before = await open(test, store)
    const one = await before.spawn(team(inner), { id: 'one' })
    one.prompt('go')
    await until(one, (event) => event.type === 'turn.request' || event.type === 'reply.start' || event.path.length > 0)
    const other = await before.spawn(team(inner, 'report'), { id: 'other' })
    await other.prompt('go').result
    await Promise.all([one.durable(), other.durable()])
    await die(before)

    const after = await open(test, store)
    const answers = quick('inner')
    const { resumed, left } = await after.resumeAll({
      definitions: [team(answers), team(answers, 'report')],
      concurrency: 1,
    })
    assert.equal(left, [])
    assert.equal(sorted(resumed), ['one', 'other'])
    for (const agent of resumed) assert.is((await agent.settled()).status, 'idle')
    const texts = JSON.stringify(await logOf(store, 'other'))
    assert.match(texts, /inner answers/)
  })

  it('leaves one that waits in a sub-agent where it is', async (test) => {
    const store = sharedStore(memoryStore())
    const inner = defineAgent({ name: 'inner', model: caller(['pay']), tools: [asks('pay')] })
    const outer = defineAgent({
      name: 'outer',
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'toolResult' ? 'done' : { toolCalls: [{ name: 'inner', input: { task: 'x' } }] },
      ),
      agents: [inner],
    })
    const before = await open(test, store)
    const agent = await before.spawn(outer, { id: 'o' })
    agent.prompt('go')
    await until(agent, ({ type }) => type === 'approval.requested')
    await die(before)
    const after = await open(test, store)
    assert.equal(await after.resumeAll({ definitions: [outer] }), { resumed: [], left: [] })
  })

  it('says why an agent could not go on, and goes on with the others', async (test) => {
    const store = sharedStore(memoryStore())
    const needs = { deps: z.object({ key: z.string() }) }
    const before = await open(test, store)
    for (const [id, definition] of [
      ['known', slow('talker')],
      ['unknown', slow('gone')],
      ['held', slow('talker')],
      ['needy', slow('needy')],
    ] as const)
      (await before.spawn(definition, { id })).prompt('Hello')
    for (const agent of before.agents()) await agent.durable()
    await die(before)
    const holder = await store.open('held')
    test.cleanup(() => holder.release())

    const after = await open(test, store)
    const definitions = [quick('talker'), quick('needy', needs)]
    const { resumed, left } = await after.resumeAll({ definitions })
    assert.equal(sorted(resumed), ['known'])
    assert.equal(whyLeft(left), { unknown: 'DEFINITION_MISSING', held: 'STORE_LOCKED', needy: 'DEPS_MISSING' })
    assert.match(left.find(({ agentId }) => agentId === 'unknown')!.error.message, /"gone" \(given: talker, needy\)/)
    const given: unknown[] = []
    const deps = (agent: object): object => {
      given.push(agent)
      return { key: 'k' }
    }
    const again = await after.resumeAll({ definitions, deps })
    assert.equal(sorted(again.resumed), ['needy'])
    assert.ok(given.some((agent) => JSON.stringify(agent) === '{"id":"needy","definition":"needy"}'))
  })

  it('goes on with those asked for only', async (test) => {
    const store = sharedStore(memoryStore())
    const before = await open(test, store)
    for (const user of ['anna', 'ben', 'cleo'])
      (await before.spawn(slow('talker'), { id: user, metadata: { user } })).prompt('Hello')
    for (const agent of before.agents()) await agent.durable()
    await die(before)
    const after = await open(test, store)
    const definitions = [slow('talker')]
    assert.equal(sorted((await after.resumeAll({ definitions, where: { user: 'anna' } })).resumed), ['anna'])
    const where = async ({ metadata }: { readonly metadata?: object }): Promise<boolean> =>
      JSON.stringify(metadata).includes('ben')
    assert.equal(sorted((await after.resumeAll({ definitions, where })).resumed), ['ben'])
  })

  it('opens no more than it was told at a time, and reads of a long log what came after its checkpoint', async (test) => {
    const { store: inner, read } = counting(memoryStore())
    const store = sharedStore(inner)
    const before = await open(test, store)
    const long = await before.spawn(quick('talker'), { id: 'long' })
    for (let n = 0; n < 40; n++) await long.prompt(`Message ${n}`).result
    const length = long.lastSeq
    await long.close()
    for (let n = 0; n < 6; n++) (await before.spawn(slow('talker'), { id: `busy${n}` })).prompt('Hello')
    for (const agent of before.agents()) await agent.durable()
    await die(before)
    read.clear()
    let now = 0
    let most = 0
    const deps = async (): Promise<object> => {
      most = Math.max(most, (now += 1))
      await new Promise((resolve) => setImmediate(resolve))
      now -= 1
      return {}
    }
    const after = await open(test, store)
    const { resumed } = await after.resumeAll({ definitions: [slow('talker')], deps, concurrency: 2 })
    assert.is(resumed.length, 6)
    assert.is(most, 2)
    assert.ok(length > 100 && read.get('long')! <= 3, `${read.get('long')} of ${length} records were read`)
  })

  it('refuses nonsense', async (test) => {
    const runtime = await open(test, memoryStore())
    for (const [options, says] of [
      [undefined, /resumeAll: .*give \{ definitions \}/],
      [{}, /resumeAll: definitions/],
      [{ definitions: ['talker'] }, /give what defineAgent returns/],
      [{ definitions: [], where: 5 }, /where: give metadata, or a function/],
      [{ definitions: [], concurrency: 0 }, /concurrency/],
      [{ definitions: [], wher: {} }, /wher/],
    ] as const) {
      const refused = await runtime.resumeAll(options as never).catch((thrown: unknown) => thrown as Error)
      assert.match((refused as Error).message, says)
    }
  })
})

describe('runtime.waiting', (it) => {
  const pay = { name: 'payer', model: caller(['pay']), tools: [asks('pay')] }

  it('lists what waits at agents that run and at those that do not, the longest first, and wakes nothing', async (test) => {
    const store = sharedStore(memoryStore())
    const inner = defineAgent({ ...pay, name: 'inner' })
    const outer = defineAgent({
      name: 'outer',
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'toolResult' ? 'done' : { toolCalls: [{ name: 'inner', input: { task: 'x' } }] },
      ),
      agents: [inner],
    })
    const before = await open(test, store)
    const asked = async (definition: AgentDefinition, id: string): Promise<void> => {
      const agent = await (id === 'late' ? after : before).spawn(definition, { id, metadata: { of: id } })
      agent.prompt(`The task of ${id}`)
      await until(agent, ({ type }) => type === 'approval.requested')
      await agent.durable()
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    let after = before
    await asked(outer, 'tree')
    await asked(defineAgent(pay), 'own')
    assert.equal(
      (await before.waiting()).map(({ agentId, isRunning }) => [agentId, isRunning]),
      [
        ['tree', true],
        ['own', true],
      ],
    )
    const live = await before.waiting()
    await die(before)

    after = await open(test, store)
    await asked(defineAgent(pay), 'late')
    const all = await after.waiting()
    assert.equal(
      all.map(({ agentId, isRunning, definition, title, metadata }) => [
        agentId,
        isRunning,
        definition,
        title,
        metadata,
      ]),
      [
        ['tree', false, 'outer', 'The task of tree', { of: 'tree' }],
        ['own', false, 'payer', 'The task of own', { of: 'own' }],
        ['late', true, 'payer', 'The task of late', { of: 'late' }],
      ],
    )
    assert.equal(
      all.slice(0, 2).map(({ pending }) => pending),
      live.map(({ pending }) => pending),
      'the logs say what the agents said',
    )
    assert.is(all[0]!.pending[0]!.agentId, 'tree.1')
    assert.equal(sorted(after.agents()), ['late'], 'nothing was woken')
    assert.equal(
      (await after.waiting({ metadata: { of: 'own' } })).map(({ agentId }) => agentId),
      ['own'],
    )
    const agent = await after.open('own', defineAgent(pay))
    agent.decide(all[1]!.pending[0]!.key, 'deny')
    await agent.settled()
    assert.equal(
      (await after.waiting()).map(({ agentId }) => agentId),
      ['tree', 'late'],
    )
  })

  it('reads a log again only once it has changed', async (test) => {
    const { store: inner, read } = counting(memoryStore())
    const store = sharedStore(inner)
    const before = await open(test, store)
    const agent = await before.spawn(defineAgent(pay), { id: 'own' })
    agent.prompt('go')
    await until(agent, ({ type }) => type === 'approval.requested')
    await die(before)
    const after = await open(test, store)
    assert.is((await after.waiting()).length, 1)
    read.clear()
    assert.is((await after.waiting()).length, 1)
    assert.is(read.get('own'), undefined)
  })

  it('tells of a call that it cannot be undone, also behind a checkpoint', async (test) => {
    const store = sharedStore(memoryStore())
    const before = await open(test, store)
    const model = policyModel(({ messages }) => {
      const last = messages.at(-1)!
      const isToPay = last.role === 'user' && JSON.stringify(last).includes('pay')
      return isToPay ? { toolCalls: [{ name: 'pay', input: {} }] } : 'Hello'
    })
    const agent = await before.spawn(defineAgent({ name: 'payer', model, tools: [asks('pay')] }), { id: 'own' })
    for (let n = 0; n < 40; n++) await agent.prompt(`Message ${n}`).result
    agent.prompt('pay')
    await until(agent, ({ type }) => type === 'approval.requested')
    await before.close()
    const requested = (await logOf(store, 'own')).find(({ type }) => type === 'approval.requested')!
    assert.ok((await store.checkpoints!.read('own'))!.seq >= requested.seq, 'the checkpoint stands after the question')

    const after = await open(test, store)
    const [found] = await after.waiting()
    assert.equal(
      found?.pending.map(({ name, kind, ...more }) => [name, kind, 'irreversible' in more]),
      [['pay', 'approval', true]],
    )
    const woken = await after.open('own', defineAgent({ name: 'payer', model, tools: [asks('pay')] }))
    assert.match(JSON.stringify(woken.pending()), /"irreversible":true/)
  })

  it('says nothing of what somebody else’s session was waiting for, which never goes on here', async (test) => {
    const theirs = sharedStore(memoryStore())
    const agent = await (await open(test, theirs)).spawn(defineAgent(pay), { id: 'own' })
    agent.prompt('go')
    await until(agent, ({ type }) => type === 'approval.requested')
    const store = sharedStore(memoryStore())
    await importSession(store, exportSession(theirs, 'own'))
    const session = await loadSession(store, 'own')
    assert.equal([session.status, session.last, storedSnapshot(session, undefined).asked], ['aborted', undefined, []])
    const after = await open(test, store)
    assert.equal(await after.waiting(), [])
    assert.equal(await after.resumeAll({ definitions: [defineAgent(pay)] }), { resumed: [], left: [] })
  })

  it('says which option is wrong', async (test) => {
    const runtime = await open(test, memoryStore())
    const refused = await runtime.waiting({ meta: {} } as never).catch((thrown: unknown) => thrown as Error)
    assert.match((refused as Error).message, /waiting: "meta" is not known/)
  })
})
