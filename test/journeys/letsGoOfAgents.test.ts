import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { Tool } from '../../src/actors/tools/defineTool.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store, StoreLease } from '../../src/protocol/ports/store.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { calls, counter, tool, withCode } from '../support/agentHarness.ts'
import { checkLog } from '../support/journeyRules.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { recordsOf } from './cutLogs.ts'

/** A runtime on a store that others have too. */
async function runtimeOn({ cleanup }: Pick<CaseContext, 'cleanup'>, store: Store): Promise<Runtime> {
  const runtime = await createRuntime({
    store: { ...store, close: async () => {} },
    clock: simulatedClock(),
    newId: counter('q'),
  })
  cleanup(() => runtime.close())
  return runtime
}

/** A tool that hangs until it is aborted, the first time; how often it was started, and aborted. */
function hanging(effects: 'none' | 'irreversible' = 'none') {
  const seen = { starts: 0, aborts: 0, isIn: Promise.withResolvers<void>() }
  const hang = tool(
    'hang',
    (_, { signal }) => {
      seen.starts += 1
      if (seen.starts > 1) return 'done'
      seen.isIn.resolve()
      return new Promise<string>((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          seen.aborts += 1
          reject(new Error('aborted'))
        }),
      )
    },
    { effects },
  )
  return { hang, seen }
}

/** A root with a sub-agent that has one itself; both may hang. */
function defineTree(
  hang: Tool,
  root: readonly ScriptedReply[],
  middle: readonly ScriptedReply[],
  leaf: readonly ScriptedReply[],
) {
  const below = defineAgent({ name: 'leaf', model: scriptedModel(leaf), tools: [hang] })
  const between = defineAgent({ name: 'middle', model: scriptedModel(middle), tools: [hang], agents: [below] })
  return defineAgent({ name: 'root', model: scriptedModel(root), agents: [between] })
}

const scoutOf = (replies: readonly ScriptedReply[], ...tools: readonly Tool[]) =>
  defineAgent({ name: 'scout', model: scriptedModel(replies), tools })

/** A lease of a store that never learns that it was taken. */
const blind = (lease: StoreLease): StoreLease => ({
  agentId: lease.agentId,
  lastSeq: lease.lastSeq,
  repairedBytes: 0,
  ...(lease.epoch === undefined ? {} : { epoch: lease.epoch }),
  release: () => lease.release(),
})

/** A lease that takes its time to be released. */
const slow = (lease: StoreLease): StoreLease => ({
  ...blind(lease),
  release: async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    await lease.release()
  },
})

/** A store with other leases. */
const leasing = (store: Store, change: (lease: StoreLease) => StoreLease): Store => ({
  ...store,
  open: async (...given) => change(await store.open(...given)),
})

const untilState = async (agent: Agent, state: string): Promise<void> => {
  while (!agent.state.startsWith(state)) await new Promise((resolve) => setImmediate(resolve))
}
const untilHeld = async (agent: Agent): Promise<void> => {
  while (agent.pending().length === 0) await new Promise((resolve) => setImmediate(resolve))
}
const untilIdle = (agent: Agent): Promise<void> => untilState(agent, 'idle')

const typesOf = (records: readonly LogRecord[]): string[] => records.map(({ type }) => type)

/** End of a run, in words. */
const endOf = async (agent: Agent, text: string): Promise<string> => {
  const { stopReason, error } = await agent.prompt(text).result
  return error === undefined ? stopReason : `${stopReason}: ${error.code}`
}

describe('an agent that is let go of', (it) => {
  it('says nothing in its log, aborts what it does, and goes on elsewhere', async (context) => {
    const store = memoryStore()
    const [here, there] = [await runtimeOn(context, store), await runtimeOn(context, store)]
    const { hang, seen } = hanging()
    const define = (...replies: readonly ScriptedReply[]) =>
      defineAgent({ name: 'a', model: scriptedModel(replies), tools: [hang] })
    const agent = await here.spawn(define(calls('c', 'hang')), { id: 'a' })
    const end = endOf(agent, 'go')
    await seen.isIn.promise
    await here.detach('a')
    assert.is(await end, 'error: AGENT_DETACHED')
    assert.equal([seen.starts, seen.aborts], [1, 1])
    assert.is(typesOf(await recordsOf(store, 'a')).at(-1), 'tool.start')
    assert.is(here.agent('a'), undefined)
    assert.throws(() => agent.prompt('more'), withCode('AGENT_DETACHED'))

    const resumed = await there.resume('a', define('finished', 'yes'))
    const { text } = await resumed.prompt('and now?').result
    assert.is(text, 'yes')
    assert.is(seen.starts, 2)
    const records = await recordsOf(store, 'a')
    assert.equal(checkLog(records, { isWhole: true }), [])
    assert.equal(
      records.flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : [])),
      ['paused', 'stop', 'stop'],
    )
  })

  it('goes with all that is below it, whose logs are free', async (context) => {
    const store = memoryStore()
    const [here, there] = [await runtimeOn(context, leasing(store, slow)), await runtimeOn(context, store)]
    const { hang, seen } = hanging()
    const first = defineTree(
      hang,
      [calls('r', ['middle', { task: 'x' }])],
      [calls('m', ['leaf', { task: 'y' }])],
      [calls('l', 'hang')],
    )
    const agent = await here.spawn(first, { id: 'a' })
    const end = endOf(agent, 'go')
    await seen.isIn.promise
    await here.detach('a')
    assert.is(await end, 'error: AGENT_DETACHED')
    for (const id of ['a', 'a.1', 'a.1.1']) await (await store.open(id)).release()
    assert.equal(here.agents(), [])
    const second = defineTree(hang, ['all done'], ['middle done'], ['leaf done'])
    const resumed = await there.resume('a', second)
    await untilIdle(resumed)
    for (const id of ['a', 'a.1', 'a.1.1'])
      assert.equal(checkLog(await recordsOf(store, id), { isWhole: true }), [], id)
    assert.is(seen.starts, 2)
    assert.is(resumed.conversation.steps().length > 0, true)
  })

  it('is let go of while it replies, waits for a person, or rests', async (context) => {
    const store = memoryStore()
    const here = await runtimeOn(context, store)
    const silent = defineAgent({
      name: 'a',
      model: {
        id: 'silent',
        async *stream(_request, { signal }) {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          yield* []
        },
      },
    })
    const replying = await here.spawn(silent, { id: 'replying' })
    const asked = defineAgent({
      name: 'a',
      model: scriptedModel([calls('c', 'ask')]),
      tools: [tool('ask', () => 'asked', { needsApproval: true })],
    })
    const waiting = await here.spawn(asked, { id: 'waiting' })
    const resting = await here.spawn(silent, { id: 'resting' })
    const ends = [endOf(replying, 'go'), endOf(waiting, 'go')]
    await untilState(replying, 'replying')
    await untilHeld(waiting)
    for (const { id } of [replying, waiting, resting]) await here.detach(id)
    assert.equal(await Promise.all(ends), ['error: AGENT_DETACHED', 'error: AGENT_DETACHED'])
    for (const id of ['replying', 'waiting', 'resting']) {
      assert.not(typesOf(await recordsOf(store, id)).includes('run.end'), id)
      await (await store.open(id)).release()
    }
  })

  it('is not found twice, and is refused where letting go would lose it', async (context) => {
    const here = await runtimeOn(context, memoryStore())
    const { hang, seen } = hanging()
    const agent = await here.spawn(
      defineTree(hang, [calls('r', ['middle', { task: 'x' }])], [calls('l', 'hang')], []),
      { id: 'a' },
    )
    void agent.prompt('go')
    await seen.isIn.promise
    const secret = await here.spawn(defineAgent({ name: 'a', model: scriptedModel([]) }), { id: 's', incognito: true })
    await assert.rejects(here.detach('a.1'), withCode('INVALID_OPTION'))
    await assert.rejects(here.detach(secret.id), withCode('AGENT_INCOGNITO'))
    await Promise.all([here.detach('a'), here.detach('a').catch(() => {})])
    await assert.rejects(here.detach('a'), withCode('AGENT_NOT_FOUND'))
    await assert.rejects(here.detach('b'), withCode('AGENT_NOT_FOUND'))
  })
})

describe('an agent whose log another runtime takes', (it) => {
  it('ends without another effect, and goes on there', async (context) => {
    const store = memoryStore()
    const [here, there] = [await runtimeOn(context, store), await runtimeOn(context, store)]
    const { hang, seen } = hanging()
    const tree = (root: readonly ScriptedReply[], middle: readonly ScriptedReply[]) =>
      defineTree(hang, root, middle, [])
    const agent = await here.spawn(tree([calls('r', ['middle', { task: 'x' }])], [calls('l', 'hang')]), { id: 'a' })
    const errors: string[] = []
    agent.subscribe((event) => event.type === 'error' && void errors.push(event.error.code))
    const end = endOf(agent, 'go')
    await seen.isIn.promise
    await assert.rejects(there.resume('a', tree([], [])), withCode('STORE_LOCKED'))
    const resumed = await there.resume('a', tree(['all done'], ['middle done']), { takeOver: true })
    assert.is(await end, 'error: STORE_LEASE_LOST')
    await untilIdle(resumed)
    assert.equal([seen.starts, seen.aborts], [2, 1])
    assert.equal(errors, ['STORE_LEASE_LOST'])
    assert.equal(here.agents(), [])
    for (const id of ['a', 'a.1']) assert.equal(checkLog(await recordsOf(store, id), { isWhole: true }), [], id)
  })

  it('is taken with all that is below it from a process that does not know', async (context) => {
    const store = memoryStore()
    const [here, there] = [await runtimeOn(context, leasing(store, blind)), await runtimeOn(context, store)]
    const { hang, seen } = hanging()
    const late = Promise.withResolvers<string>()
    const frozen = tool('hang', () => (seen.isIn.resolve(), late.promise), { effects: 'none' })
    const asks = [calls('r', ['middle', { task: 'x' }])]
    const agent = await here.spawn(defineTree(frozen, asks, [calls('l', 'hang')], []), { id: 'a' })
    const end = endOf(agent, 'go')
    await seen.isIn.promise
    seen.starts = 1
    const resumed = await there.resume('a', defineTree(hang, ['all done'], ['middle done'], []), { takeOver: true })
    await untilIdle(resumed)
    assert.is(seen.starts, 2)
    const written = await Promise.all(['a', 'a.1'].map((id) => recordsOf(store, id)))
    // It wakes, and goes on with what it had.
    late.resolve('too late')
    assert.is(await end, 'error: STORE_LEASE_LOST')
    assert.equal(await Promise.all(['a', 'a.1'].map((id) => recordsOf(store, id))), written)
    for (const records of written) assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('runs no call whose beginning it could not write any more', async (context) => {
    const store = memoryStore()
    const here = await runtimeOn(context, leasing(store, blind))
    let runs = 0
    const asks = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const script = scriptedModel([calls('c', 'once')])
    const model: Model = {
      id: 'slow',
      async *stream(...asked) {
        asks.resolve()
        await go.promise
        yield* script.stream(...asked)
      },
    }
    const agent = await here.spawn(
      defineAgent({ name: 'a', model, tools: [tool('once', () => `${(runs += 1)}`, { effects: 'irreversible' })] }),
      { id: 'a' },
    )
    const end = endOf(agent, 'go')
    await asks.promise
    const taken = await store.open('a', { takeOver: true })
    go.resolve()
    assert.is(await end, 'error: STORE_LEASE_LOST')
    assert.is(runs, 0)
    assert.is((await recordsOf(store, 'a')).length, taken.lastSeq)
  })

  const ways: { readonly [way: string]: (scoutId: string, here: Runtime, there: Runtime) => Promise<unknown> } = {
    'is let go of': (id, here) => here.detach(id),
    'is taken by another process': (id, _, there) => there.resume(id, scoutOf(['done']), { takeOver: true }),
  }
  for (const [way, leave] of Object.entries(ways))
    it(`says nothing to the caller of an agent that reports and ${way}: it will report from elsewhere`, async (context) => {
      const store = memoryStore()
      const { hang, seen } = hanging()
      const scout = scoutOf([calls('h', 'hang')], hang)
      const model = scriptedModel([calls('s', ['scout', { task: 'Look.' }]), { text: 'It looks.' }])
      const runtime = await runtimeOn(context, store)
      const agents = [{ definition: scout, detach: 'report' }] as const
      const agent = await runtime.spawn(defineAgent({ name: 'caller', model, agents }), { id: 'a1' })
      await agent.prompt('Look around.').result
      await seen.isIn.promise
      const { lastSeq } = agent
      const scoutId = (await store.list()).find((id) => id !== 'a1')!
      await leave(scoutId, runtime, await runtimeOn(context, store))
      while (runtime.agent(scoutId) !== undefined) await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
      assert.is(agent.state, 'idle')
      assert.is(agent.lastSeq, lastSeq)
    })
})

describe('an agent that calls one that works on its own', (it) => {
  it('is told so once the log of that one says at what', async (context) => {
    const inner = memoryStore()
    const goOn = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const store: Store = {
      ...inner,
      append: async (agentId, records, ...rest) => {
        if (agentId === 'a.1') {
          isHeld.resolve()
          await goOn.promise
        }
        await inner.append(agentId, records, ...rest)
      },
    }
    const scout = defineAgent({ name: 'scout', model: scriptedModel([{ text: 'Found it.' }]) })
    const model = scriptedModel([calls('s', ['scout', { task: 'Look.' }]), { text: 'It looks.' }])
    const runtime = await runtimeOn(context, store)
    const definition = defineAgent({ name: 'coder', model, agents: [{ definition: scout, detach: true }] })
    const agent = await runtime.spawn(definition, { id: 'a' })
    const run = agent.prompt('Look around.')
    const told = agent.events()
    await isHeld.promise
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    assert.is(
      (await recordsOf(inner, 'a')).some(({ type }) => type === 'tool.end'),
      false,
    )
    goOn.resolve()
    for await (const event of told) if (event.type === 'tool.end') break
    assert.match(JSON.stringify(await recordsOf(inner, 'a.1')), /Look\./)
    assert.is((await run.result).text, 'It looks.')
  })
})
