import { z } from 'zod'
import { type AgentOptions, defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { gate, quiet, resultsOf, tool, withCode } from '../support/agentHarness.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { caller, ends, Lives, paused, types, until } from '../support/lives.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { cutStore, recordsOf } from './cutLogs.ts'

/** Asks twice, and says in `did` what it does in between. */
const booking = (did: string[], options: Parameters<typeof tool>[2] = {}) =>
  tool(
    'book',
    async (_, { ask }) => {
      did.push('begin')
      const city = await ask(z.string(), 'Where to?')
      did.push(city)
      const seats = await ask(z.number(), `How many to ${city}?`)
      return `${seats} to ${city}`
    },
    options,
  )

const definition = (did: string[], rest: Partial<AgentOptions> = {}, requests?: ModelRequest[]) =>
  defineAgent({ name: 'booker', model: caller(['book'], requests), tools: [booking(did)], ...rest })

const answers: { readonly [question: string]: unknown } = { 'Where to?': 'Ulm', 'How many to Ulm?': 2 }

describe('a tool that had asked when its process died', (it) => {
  it('is asked again by nobody: the question waits, and its answer starts the call again', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(definition([]), 'go')
    await paused(first.agent)
    const left = await first.logs()
    const did: string[] = []
    const requests: ModelRequest[] = []
    const second = await lives.resume(definition(did, {}, requests), left)
    assert.equal(second.agent.pending(), first.agent.pending())
    assert.equal([await second.logs(), did], [left, []])
    const { agent } = second
    assert.throws(() => agent.decide('c0', { value: 'x' }), withCode('CALL_NOT_PENDING'))
    const { key } = agent.pending()[0]!
    agent.decide(key, { value: 'Ulm' })
    await until(agent, (event) => event.type === 'question.asked')
    assert.equal(did, ['begin', 'Ulm'])
    const end = ends(agent)
    agent.decide(agent.pending()[0]!.key, { value: 2 })
    await end
    assert.equal(resultsOf(requests[0]), ['2 to Ulm'])
    const after = (await second.logs())['a1']!
    assert.equal(
      types(after).filter((type) => /^(question|tool|run)\./.test(type)),
      [
        'run.start',
        'tool.start',
        'question.asked',
        'question.answered',
        'tool.start',
        'question.asked',
        'question.answered',
        'tool.end',
        'run.end',
      ],
    )
    assert.equal(
      after.flatMap((record) => (record.type === 'question.answered' ? [record.again === true] : [])),
      [true, false],
    )
  })

  it('may be aborted, denied or spoken over instead', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(definition([]), 'go')
    await paused(first.agent)
    const left = await first.logs()

    const aborted = await lives.resume(definition([]), left)
    const abortEnd = ends(aborted.agent)
    aborted.agent.abort()
    await abortEnd
    assert.equal([aborted.agent.state, aborted.agent.pending()], ['idle', []])

    const requests: ModelRequest[] = []
    const denied = await lives.resume(definition([], {}, requests), left)
    const denyEnd = ends(denied.agent)
    denied.agent.decide(denied.agent.pending()[0]!.key, 'deny', 'not now')
    await denyEnd
    assert.match(resultsOf(requests[0])[0]!, /Nobody answers "Where to\?".*not now/)

    const steered = await lives.resume(definition([], {}, requests), left)
    const steerEnd = ends(steered.agent)
    steered.agent.steer('leave it')
    await steerEnd
    assert.match(resultsOf(requests[1])[0]!, /^Skipped/)
  })

  for (const effects of ['none', 'irreversible'] as const)
    it(`at any record comes to the same end, ${effects}`, { timeoutMs: 20_000 }, async (context) => {
      const records = await wholeLog(context, effects)
      const begun = records.findIndex(({ type }) => type === 'tool.start')
      for (let cut = begun + 1; cut < records.length; cut++) {
        const results = await endOf(context, records.slice(0, cut), effects)
        const [{ type }] = records.slice(cut - 1) as [LogRecord]
        // The process died while the tool ran: only one that may run again does.
        const isUnknown = effects === 'irreversible' && (type === 'tool.start' || type === 'question.answered')
        assert.match(results[0]!, isUnknown ? /^Interrupted: it is not known/ : /^2 to Ulm$/, `cut at ${cut}, ${type}`)
      }
    })

  it('runs again if the process dies between the answer and its start', async (context) => {
    const whole = await wholeLog(context, 'irreversible')
    const left = whole.slice(
      0,
      whole.findIndex(({ type }) => type === 'question.answered'),
    )
    const store = await cutStore('a1', left)
    const second = await createRuntime({ store })
    const agent = await second.resume('a1', withEffects('irreversible'))
    agent.decide(agent.pending()[0]!.key, { value: 'Ulm' })
    await until(agent, (event) => event.type === 'question.asked')
    const records = await recordsOf(store, 'a1')
    await second.close()
    const answered = records.findIndex(({ type }) => type === 'question.answered')
    assert.is(records[answered + 1]!.type, 'tool.start')
    assert.equal(await endOf(context, records.slice(0, answered + 1), 'irreversible'), ['2 to Ulm'])
  })

  it('is told when it asks something else the second time', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(definition([]), 'go')
    await paused(first.agent)
    const requests: ModelRequest[] = []
    const other = tool('book', (_, { ask }) => ask(z.string(), 'Whither?'))
    const changed = defineAgent({ name: 'booker', model: caller(['book'], requests), tools: [other] })
    const { agent } = await lives.resume(changed, await first.logs())
    const end = ends(agent)
    agent.decide(agent.pending()[0]!.key, { value: 'Ulm' })
    await end
    assert.match(resultsOf(requests[0])[0]!, /asked "Where to\?" when it first ran, and "Whither\?" when it ran again/)
  })

  it('asks again when the answer does not fit its new schema', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(definition([]), 'go')
    await paused(first.agent)
    const requests: ModelRequest[] = []
    const other = tool('book', (_, { ask }) => ask(z.enum(['Rome', 'Oslo']), 'Where to?'))
    const changed = defineAgent({ name: 'booker', model: caller(['book'], requests), tools: [other] })
    const { agent } = await lives.resume(changed, await first.logs())
    agent.decide(agent.pending()[0]!.key, { value: 'Ulm' })
    await until(agent, (event) => event.type === 'question.asked')
    const [again] = agent.pending()
    assert.ok(again?.kind === 'question')
    assert.match(again.problem!, /Rome/)
    const end = ends(agent)
    agent.decide(again.key, { value: 'Oslo' })
    await end
    assert.equal(resultsOf(requests[0]), ['Oslo'])
  })

  it('waits on when its agent is closed, and when it is opened again', async (context) => {
    const store = memoryStore()
    const first = await createRuntime({ store: { ...reachable(store), close: async () => {} } })
    const agent = await first.spawn(definition([]), { id: 'a1' })
    agent.prompt('go')
    await paused(agent)
    const pending = agent.pending()
    await first.close()
    const second = await createRuntime({ store })
    context.cleanup(() => second.close())
    assert.equal((await second.open('a1', definition([]))).pending(), pending)
  })

  it('goes on by itself after a store that failed works again', async (context) => {
    const broken = gate()
    const store = memoryStore()
    let fails = false
    const flaky = {
      ...reachable(store),
      append: async (agentId: string, batch: readonly LogRecord[]) => {
        if (fails && batch.some(({ type }) => type === 'question.answered')) {
          broken.resolve()
          throw new Error('disk full')
        }
        await store.append(agentId, batch)
      },
    }
    const runtime = await createRuntime({ store: flaky })
    context.cleanup(() => runtime.close())
    const did: string[] = []
    const requests: ModelRequest[] = []
    const agent = await runtime.spawn(definition(did, {}, requests), { id: 'a1' })
    const run = agent.prompt('go')
    await paused(agent)
    fails = true
    agent.decide(agent.pending()[0]!.key, { value: 'Ulm' })
    await broken.promise
    assert.is((await run.result).reason?.type, 'store')
    assert.equal(did, ['begin'])
    fails = false
    const resumed = agent.resume()
    while (agent.pending().length === 0) await quiet()
    assert.equal(did, ['begin', 'begin', 'Ulm'])
    agent.decide(agent.pending()[0]!.key, { value: 2 })
    assert.is((await resumed.result).stopReason, 'stop')
    assert.equal(resultsOf(requests.at(-1)), ['2 to Ulm'])
  })
})

/** The methods of a store, to be replaced one by one. */
const reachable = (store: Store): Store => ({
  append: store.append.bind(store),
  read: store.read.bind(store),
  list: store.list.bind(store),
  open: store.open.bind(store),
  close: store.close.bind(store),
})

const withEffects = (effects: 'none' | 'irreversible') =>
  defineAgent({ name: 'booker', model: caller(['book']), tools: [booking([], { effects })] })

/** Answers whatever is asked until the run has ended. */
async function answerAll(agent: Awaited<ReturnType<Lives['begin']>>['agent']): Promise<void> {
  while (agent.state !== 'idle') {
    for (const call of agent.pending())
      if (call.kind === 'question') agent.decide(call.key, { value: answers[call.question] })
    await quiet()
  }
}

/** The log of a run in which everything was answered. */
async function wholeLog(context: CaseContext, effects: 'none' | 'irreversible'): Promise<LogRecord[]> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  const agent = await runtime.spawn(withEffects(effects), { id: 'a1' })
  const run = agent.prompt('go')
  await paused(agent)
  await answerAll(agent)
  await run.result
  return recordsOf(store, 'a1')
}

/** Results of the calls if the process dies after these records. */
async function endOf(
  context: CaseContext,
  records: readonly LogRecord[],
  effects: 'none' | 'irreversible',
): Promise<string[]> {
  const runtime = await createRuntime({ store: await cutStore('a1', records) })
  context.cleanup(() => runtime.close())
  const agent = await runtime.resume('a1', withEffects(effects))
  await answerAll(agent)
  return resultsOf({ messages: agent.conversation.trunk().map(({ message }) => message) })
}
