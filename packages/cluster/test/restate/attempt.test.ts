import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { Attempt, type Step } from '../../src/restate/attempt.ts'
import { readCarried, type Carried } from '../../src/restate/carried.ts'
import { Definitions } from '../../src/restate/definitions.ts'
import { WorkerAgents } from '../../src/restate/workerAgents.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { tool, calls, withCode } from '../../../../test/support/agentHarness.ts'
import { checkLog } from '../../../../test/support/journeyRules.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { heldReply } from './heldReply.ts'
import { recordsIn } from './recordsIn.ts'

interface Worker {
  readonly agents: WorkerAgents
  /** How many agents are in memory. */
  loaded(): number
}

/** A worker without its engine. */
async function workerOn(
  { cleanup }: CaseContext,
  store: Store,
  definition: AgentDefinition,
  warm = 10,
): Promise<Worker> {
  const runtime = await createRuntime({ store: { ...store, close: async () => {} } })
  cleanup(() => runtime.close({ detach: true }))
  const definitions = new Definitions([definition])
  const agents = new WorkerAgents({
    runtime,
    store,
    definitions,
    deps: undefined,
    warm,
    logger: undefined,
    clock: systemClock,
  })
  return { agents, loaded: () => runtime.agents().length }
}

/** A store that tells nobody that a lease was lost, as one across a network tells it late. */
const blind = (store: Store): Store => ({
  ...store,
  async open(agentId, options) {
    const lease = await store.open(agentId, options)
    return {
      agentId,
      lastSeq: lease.lastSeq,
      repairedBytes: 0,
      ...(lease.epoch === undefined ? {} : { epoch: lease.epoch }),
      release: () => lease.release(),
    }
  },
})

const command = (verb: string, requestId: string, body: object = {}): Carried =>
  readCarried('a1', verb, body, requestId)
const prompt = (requestId: string): Carried => command('prompt', requestId, { content: `Prompt ${requestId}` })

const outcomeOf = (step: Step) => ('outcome' in step ? step.outcome : undefined)

describe('an attempt to bring a command to an agent', (it) => {
  it('gives the command once, whatever attempts come after it', async (context) => {
    const store = memoryStore()
    const definition = defineAgent({ name: 'coder', model: scriptedModel([{ text: 'One.' }]) })
    const { agents } = await workerOn(context, store, definition)
    for (const _ of [1, 2, 3]) {
      const step = await new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal).next()
      const { status, stopReason, from } = outcomeOf(step) ?? {}
      assert.equal([status, stopReason, from], ['done', 'stop', 2])
    }
    assert.is((await recordsIn(store, 'a1')).filter(({ type }) => type === 'run.start').length, 1)
  })

  it('says what came of a run that ended in another attempt, also that it failed', async (context) => {
    const store = memoryStore()
    const definition = defineAgent({
      name: 'coder',
      model: scriptedModel([{ error: { kind: 'auth', message: 'no key' } }, { text: 'Two.' }]),
    })
    const { agents } = await workerOn(context, store, definition)
    const asked = async (requestId: string) =>
      outcomeOf(await new Attempt(agents, 'a1', prompt(requestId), new AbortController().signal).next())
    const first = await asked('p1')
    assert.is(first?.stopReason, 'error')
    await asked('p2')
    const again = await asked('p1')
    assert.equal([again?.stopReason, again?.error, again?.from], ['error', first?.error, first?.from])
  })

  it('lets go without a word when the engine ends it, and the next one in the process waits for that and goes on', async (context) => {
    const store = memoryStore()
    const held = heldReply('Never.')
    const definition = defineAgent({ name: 'coder', model: scriptedModel([held.reply, { text: 'Done.' }]) })
    const { agents } = await workerOn(context, store, definition)
    const over = new AbortController()
    const first = new Attempt(agents, 'a1', prompt('p1'), over.signal).next()
    await held.asked
    const second = new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal).next()
    over.abort()
    await assert.rejects(
      () => first,
      (thrown: unknown) => (thrown as Error).name === 'AttemptOver',
    )
    const outcome = outcomeOf(await second)
    assert.equal([outcome?.status, outcome?.stopReason], ['done', 'stop'])
    const records = await recordsIn(store, 'a1')
    assert.equal(
      records.flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : [])),
      ['paused', 'stop'],
    )
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('names those that are agents of their own until it is known that they are', async (context) => {
    const store = memoryStore()
    const scouted = heldReply('Found it.')
    const held = heldReply('It looks.')
    const scout = defineAgent({ name: 'scout', model: scriptedModel([scouted.reply, { text: 'Found it.' }]) })
    const model = scriptedModel([calls('s', ['scout', { task: 'Look.' }]), held.reply, { text: 'It looks.' }])
    const definition = defineAgent({ name: 'coder', model, agents: [{ definition: scout, detach: true }] })
    const { agents } = await workerOn(context, store, definition)
    const over = new AbortController()
    const first = new Attempt(agents, 'a1', prompt('p1'), over.signal)
    assert.equal(await first.next(), { begun: ['a1.1'] })
    const cut = first.next()
    over.abort()
    await assert.rejects(
      () => cut,
      () => true,
    )
    const again = new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal)
    assert.equal(await again.next(), { begun: ['a1.1'] })
    const step = await again.next()
    assert.ok('outcome' in step && step.outcome.status === 'done' && step.children === 1)
    const known = new Attempt(agents, 'a1', command('wake', 'w1'), new AbortController().signal, 1)
    assert.is(outcomeOf(await known.next())?.status, 'done')
    scouted.goOn()
  })

  it('names also those that a sub-agent has begun', async (context) => {
    const store = memoryStore()
    const scouted = heldReply('Found it.')
    const scout = defineAgent({ name: 'scout', model: scriptedModel([scouted.reply, { text: 'Found it.' }]) })
    const asks = calls('s', ['scout', { task: 'Look.' }])
    const helperModel = scriptedModel([asks, { text: 'It looks.' }])
    const helper = defineAgent({ name: 'helper', model: helperModel, agents: [{ definition: scout, detach: true }] })
    const held = heldReply('It looks.')
    const model = scriptedModel([calls('h', ['helper', { task: 'Look.' }]), held.reply, { text: 'It looks.' }])
    const { agents } = await workerOn(context, store, defineAgent({ name: 'coder', model, agents: [helper] }))
    const over = new AbortController()
    const first = new Attempt(agents, 'a1', prompt('p1'), over.signal)
    assert.equal(await first.next(), { begun: ['a1.1.1'] })
    const cut = first.next()
    await held.asked
    over.abort()
    await assert.rejects(
      () => cut,
      () => true,
    )
    const again = new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal)
    assert.equal(await again.next(), { begun: ['a1.1.1'] })
    assert.is(outcomeOf(await again.next())?.status, 'done')
    scouted.goOn()
  })

  it('does not begin when the engine has ended it before', async (context) => {
    const store = memoryStore()
    const { agents } = await workerOn(context, store, defineAgent({ name: 'coder', model: scriptedModel([]) }))
    await assert.rejects(
      () => new Attempt(agents, 'a1', prompt('p1'), AbortSignal.abort()).next(),
      () => true,
    )
    assert.equal(await store.list(), [])
  })

  it('keeps what comes by signal before the agent is open, and drops what comes twice or too late', async (context) => {
    const store = memoryStore()
    const held = heldReply('One.')
    const definition = defineAgent({ name: 'coder', model: scriptedModel([held.reply, { text: 'Two.' }]) })
    const { agents } = await workerOn(context, store, definition)
    const attempt = new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal)
    attempt.take(command('steer', 's1', { content: 'Also this.' }))
    const step = attempt.next()
    await held.asked
    attempt.take(prompt('p1'))
    held.goOn()
    assert.is(outcomeOf(await step)?.status, 'done')
    attempt.take(command('steer', 's2', { content: 'Too late.' }))
    await new Promise((resolve) => setImmediate(resolve))
    const records = await recordsIn(store, 'a1')
    assert.is(records.filter(({ type }) => type === 'message.added').length, 2)
    assert.is(records.filter(({ type }) => type === 'turn.start').length, 2)
  })

  it('ends what runs when it is cancelled, even before it has begun', async (context) => {
    const store = memoryStore()
    const held = heldReply('Never.')
    const definition = defineAgent({ name: 'coder', model: scriptedModel([held.reply, { text: 'Two.' }]) })
    const { agents } = await workerOn(context, store, definition)
    const attempt = new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal)
    const step = attempt.next()
    await held.asked
    await attempt.cancel()
    assert.is(outcomeOf(await step)?.stopReason, 'aborted')
    const next = new Attempt(agents, 'a1', command('wake', 'w1'), new AbortController().signal)
    await next.cancel()
    const ends = (await recordsIn(store, 'a1')).flatMap((record) =>
      record.type === 'run.end' ? [record.stopReason] : [],
    )
    assert.equal(ends, ['aborted'])
  })

  it('says what waits for people by its keys, and keeps nothing in memory for that', async (context) => {
    const store = memoryStore()
    const publish = tool('publish', () => 'published', { needsApproval: true })
    const model = scriptedModel([calls('c', 'publish'), { text: 'Out.' }])
    const worker = await workerOn(context, store, defineAgent({ name: 'coder', model, tools: [publish] }))
    const waiting = outcomeOf(await new Attempt(worker.agents, 'a1', prompt('p1'), new AbortController().signal).next())
    assert.ok(waiting?.status === 'waiting')
    assert.is(worker.loaded(), 0)
    const decision = command('decide', 'd1', { callId: waiting.callIds?.[0], decision: 'approve' })
    const decided = await new Attempt(worker.agents, 'a1', decision, new AbortController().signal).next()
    assert.is(outcomeOf(decided)?.status, 'done')
    const wrong = await new Attempt(
      worker.agents,
      'a1',
      { ...decision, requestId: 'd2' },
      new AbortController().signal,
    ).next()
    assert.equal([outcomeOf(wrong)?.status, outcomeOf(wrong)?.error?.code], ['refused', 'CALL_NOT_PENDING'])
  })

  it('keeps agents that rest, as many as it may, and reads those again that another worker has had', async (context) => {
    const store = blind(memoryStore())
    const replies = Array.from({ length: 8 }, () => ({ text: 'Yes.' }))
    const definition = defineAgent({ name: 'coder', model: scriptedModel(replies) })
    const one = await workerOn(context, store, definition, 1)
    const other = await workerOn(context, store, definition, 0)
    const ask = async ({ agents }: Worker, requestId: string, agentId = 'a1') => {
      const carried = readCarried(agentId, 'prompt', { content: 'Go.' }, requestId)
      return outcomeOf(await new Attempt(agents, agentId, carried, new AbortController().signal).next())
    }
    await ask(one, 'p1')
    await ask(one, 'p2')
    assert.is(one.loaded(), 1)
    await ask(other, 'p3')
    assert.is(other.loaded(), 0)
    assert.is((await ask(one, 'p4'))?.status, 'done')
    await ask(one, 'p5', 'a2')
    assert.is(one.loaded(), 1)
    const records = await recordsIn(store, 'a1')
    assert.is(records.filter(({ type }) => type === 'run.start').length, 4)
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('goes on where the log says that the store had failed', async (context) => {
    const store = memoryStore()
    const failing = { is: false }
    const broken: Store = {
      ...store,
      append: async (agentId, records, epoch) => {
        if (failing.is) throw new RuntimeError('STORE_APPEND_FAILED', 'The disk is full.')
        await store.append(agentId, records, epoch)
      },
    }
    const look = tool('look', () => {
      failing.is = true
      return 'seen'
    })
    const model = scriptedModel([calls('c', 'look'), { text: 'Done.' }])
    const { agents } = await workerOn(context, broken, defineAgent({ name: 'coder', model, tools: [look] }))
    const letGo = agents.letGo.bind(agents)
    // There is room again by the time at which it is let go of, so that the pause gets into the log.
    agents.letGo = async (agent) => {
      failing.is = false
      await letGo(agent)
    }
    const first = new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal).next()
    await assert.rejects(() => first, withCode('STORE_APPEND_FAILED'))
    const next = await new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal).next()
    assert.is(outcomeOf(next)?.status, 'done')
    const records = await recordsIn(store, 'a1')
    assert.equal(
      records.flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : [])),
      ['paused', 'stop'],
    )
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('stops an agent for good, and finds that done when it is asked again', async (context) => {
    const store = memoryStore()
    const { agents } = await workerOn(
      context,
      store,
      defineAgent({ name: 'coder', model: scriptedModel([{ text: 'Yes.' }]) }),
    )
    await new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal).next()
    for (const _ of [1, 2]) {
      const step = await new Attempt(agents, 'a1', command('stop', 'x1'), new AbortController().signal).next()
      assert.is(outcomeOf(step)?.status, 'stopped')
    }
    const step = await new Attempt(agents, 'a1', prompt('p2'), new AbortController().signal).next()
    assert.is(outcomeOf(step)?.error?.code, 'AGENT_STOPPED')
  })

  it('does nothing when the engine ends it while the agent is being opened', async (context) => {
    const ran: string[] = []
    const work = tool('work', () => void ran.push('work'), { effects: 'none' })
    const model = scriptedModel([{ toolCalls: [{ name: 'work', input: {} }] }, 'Done.'])
    const inner = memoryStore()
    const [opening, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const store: Store = {
      ...inner,
      open: async (agentId, options) => {
        opening.resolve()
        await opened.promise
        return inner.open(agentId, options)
      },
    }
    const { agents } = await workerOn(context, store, defineAgent({ name: 'coder', model, tools: [work] }))
    const over = new AbortController()
    const step = new Attempt(agents, 'a1', prompt('p1'), over.signal).next()
    await opening.promise
    over.abort()
    opened.resolve()
    await assert.rejects(step, (thrown: unknown) => (thrown as Error).name === 'AttemptOver')
    assert.equal(ran, [])
    assert.is(agents.seats.has('a1'), false)
    assert.is(
      outcomeOf(await new Attempt(agents, 'a1', prompt('p1'), new AbortController().signal).next())?.status,
      'done',
    )
    assert.equal(ran, ['work'])
  })
})
