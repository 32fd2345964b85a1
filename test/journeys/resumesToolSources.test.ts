import { z } from 'zod'
import {
  createRuntime,
  defineAgent,
  defineTool,
  memoryStore,
  type Agent,
  type LogRecord,
  type ToolSource,
} from '../../src/index.ts'
import type { ToolEffects, ToolOptions } from '../../src/actors/tools/defineTool.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls } from '../support/agentHarness.ts'
import { scriptedSource, type ScriptedSource } from '../support/scriptedSource.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { cutStore, recordsOf, settled } from './cutLogs.ts'

const effects: readonly ToolEffects[] = ['none', 'idempotent', 'reversible', 'irreversible']

/** A source with a tool for each kind of effects, and one that asks; `ran` notes what did. */
function serverNoting(ran: string[]): ScriptedSource {
  const noting = (name: string, options: Partial<ToolOptions<z.ZodObject>>) =>
    defineTool({
      name,
      description: `The tool ${name}.`,
      input: z.looseObject({}),
      ...options,
      run: () => {
        ran.push(name)
        return `${name} ran`
      },
    })
  return scriptedSource('srv', [
    ...effects.map((each) => noting(each, { effects: each, ...(each === 'reversible' ? { undo: () => {} } : {}) })),
    noting('asking', { effects: 'none', needsApproval: true }),
    noting('choosy', { effects: 'none', needsApproval: () => false }),
  ])
}

const wanted = calls('a', ...effects, 'asking', 'choosy')

const definitionWith = (sources: readonly ToolSource[], ...replies: ScriptedReply[]) =>
  defineAgent({ name: 'tester', model: scriptedModel(replies), tools: sources })

/** The log of a run that calls all of them; the one that asks is approved. */
async function recorded(): Promise<LogRecord[]> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  const agent = await runtime.spawn(definitionWith([serverNoting([])], wanted, 'done'), { id: 'a1' })
  agent.subscribe((event) => {
    if (event.type === 'approval.requested') agent.decide(event.key, 'approve')
  })
  await agent.prompt('go').result
  await runtime.close()
  return recordsOf(store, 'a1')
}

interface Resumed {
  readonly agent: Agent
  readonly requests: ReturnType<typeof scriptedModel>['requests']
  readonly records: () => Promise<LogRecord[]>
  /** The result of each call on the trunk, by its tool. */
  readonly results: () => { readonly [name: string]: string }
}

/** The agent goes on from these records, with these sources. */
async function resumed(
  { cleanup }: CaseContext,
  past: readonly LogRecord[],
  sources: readonly ToolSource[],
  ...replies: ScriptedReply[]
): Promise<Resumed> {
  const store = await cutStore('a1', past)
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  const model = scriptedModel(replies)
  const definition = defineAgent({ name: 'tester', model, tools: sources })
  const agent = await runtime.resume('a1', definition, { continue: false })
  const results = () =>
    Object.fromEntries(
      agent.conversation
        .trunk()
        .flatMap(({ message }) =>
          message.role === 'toolResult' ? [[message.toolName, textOf(message.content)] as const] : [],
        ),
    )
  return { agent, requests: model.requests, records: () => recordsOf(store, 'a1'), results }
}

/** Continues the run, and approves what is asked; gives the names of what was. */
async function goOn(agent: Agent): Promise<string[]> {
  const asked = new Map<string, string>()
  const approve = (): void => {
    for (const { key, name } of agent.approvals()) {
      if (asked.has(key)) continue
      asked.set(key, name)
      agent.decide(key, 'approve')
    }
  }
  agent.subscribe(approve)
  const ended = settled(agent)
  if (agent.pause?.type === 'approvals') approve()
  else await agent.resume().result
  await ended
  return [...asked.values()].toSorted()
}

/** Every call has been started, and none has ended: those of one reply start before the first result. */
const inMidCall = (records: readonly LogRecord[]): LogRecord[] =>
  records.slice(
    0,
    records.findIndex(({ type }) => type === 'tool.end'),
  )

const notKnown = /not known whether it happened/

describe('an agent whose process died while it had tools of a source', (it) => {
  it('offers what it offered, byte for byte, while the source is not there', async (context) => {
    const past = await recorded()
    const server = serverNoting([])
    server.goDown('it does not start')
    server.has()
    const { agent, requests, records } = await resumed(context, past, [server], 'on')
    await agent.prompt('on').result
    const added = past.flatMap((record) => (record.type === 'tools.changed' ? record.added : []))
    const specs = added.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    assert.is(specs.length, 6)
    assert.is(JSON.stringify(requests[0]!.tools), JSON.stringify(specs))
    const after = (await records()).slice(past.length)
    assert.not.ok(after.some(({ type }) => type === 'tools.changed'))
  })

  it('runs calls again by the effects that their records say, once the source is there', async (context) => {
    const ran: string[] = []
    const { agent, results } = await resumed(context, inMidCall(await recorded()), [serverNoting(ran)], 'done')
    await goOn(agent)
    assert.equal(ran.toSorted(), ['asking', 'choosy', 'idempotent', 'none'])
    const { reversible, irreversible, ...others } = results()
    for (const cut of [reversible, irreversible]) assert.match(cut!, notKnown)
    for (const [name, text] of Object.entries(others)) assert.is(text, `${name} ran`)
  })

  it('answers them with what is wrong when it does not come back', async (context) => {
    const server = serverNoting([])
    server.goDown('it does not start')
    server.has()
    const { agent, results } = await resumed(context, inMidCall(await recorded()), [server], 'done')
    await goOn(agent)
    const { reversible, irreversible, ...others } = results()
    for (const cut of [reversible, irreversible]) assert.match(cut!, notKnown)
    for (const [name, text] of Object.entries(others))
      assert.is(text, `"${name}" cannot be called: srv is not there (it does not start).`)
  })

  it('does not run what is no longer the same', async (context) => {
    const ran: string[] = []
    const server = serverNoting(ran)
    const [first] = serverNoting([]).open({ clock: { now: () => 0, after: () => () => {} } }).tools
    server.has({ ...first!, description: 'Another tool.' })
    const { agent, results } = await resumed(context, inMidCall(await recorded()), [server], 'done')
    await goOn(agent)
    assert.equal(ran, [])
    assert.match(results()['none']!, /^"none" is no longer as it was offered to you/)
    assert.match(results()['choosy']!, /^"choosy" is no longer as it was offered to you/)
  })

  it('asks about a call that nobody had decided about, if its tool may want that', async (context) => {
    const ran: string[] = []
    const past = await recorded()
    const replied = past.slice(0, past.findIndex(({ type }) => type === 'reply.end') + 1)
    const { agent, results } = await resumed(context, replied, [serverNoting(ran)], 'done')
    // The source is not there yet: nobody can say whether this call of "choosy" needs it.
    assert.equal(await goOn(agent), ['asking', 'choosy'])
    assert.equal(ran.toSorted(), [...effects, 'asking', 'choosy'].toSorted())
    assert.ok(Object.values(results()).every((text) => text.endsWith(' ran')))
  })

  it('asks before a call whose arguments only the tool itself understands', async (context) => {
    const store = memoryStore()
    const asked: string[] = []
    const source = (ran: unknown[]) =>
      scriptedSource('srv', [
        defineTool({
          name: 'pay',
          description: 'Pays.',
          input: z.object({ amount: z.coerce.number() }),
          needsApproval: true,
          run: (input) => void ran.push(input),
        }),
      ])
    const pay = { toolCalls: [{ name: 'pay', input: { amount: '5' } }] }
    const runtime = await createRuntime({ store })
    const recording = await runtime.spawn(definitionWith([source([])], pay, 'done'), { id: 'a1' })
    recording.subscribe((event) => {
      if (event.type === 'approval.requested') recording.decide(event.key, 'approve')
    })
    await recording.prompt('go').result
    await runtime.close()
    const past = await recordsOf(store, 'a1')
    const replied = past.slice(0, past.findIndex(({ type }) => type === 'reply.end') + 1)
    for (const beforeTool of [undefined, ({ name }: { name: string }) => void asked.push(name)]) {
      const ran: unknown[] = []
      const again = await createRuntime({ store: await cutStore('a1', replied) })
      context.cleanup(() => again.close())
      const hooks = beforeTool === undefined ? {} : { beforeTool }
      const definition = defineAgent({ name: 'tester', model: scriptedModel(['done']), tools: [source(ran)], ...hooks })
      const agent = await again.resume('a1', definition, { continue: false })
      assert.equal(await goOn(agent), ['pay'])
      assert.equal(ran, [{ amount: 5 }])
    }
    assert.equal(asked, ['pay'])
  })

  it('has none of them when its definition no longer has the source', async (context) => {
    const { agent, results, requests, records } = await resumed(context, inMidCall(await recorded()), [], 'done')
    await goOn(agent)
    assert.equal(requests[0]!.tools, [])
    for (const text of Object.values(results()))
      assert.ok(notKnown.test(text) || text.startsWith('There is no tool'), text)
    assert.is((await records()).filter(({ type }) => type === 'tools.changed').length, 1)
  })

  it('goes on from any record, with every call answered once', { timeoutMs: 20_000 }, async (context) => {
    const past = await recorded()
    const from = past.findIndex(({ type }) => type === 'turn.start') + 1
    for (let cut = from; cut < past.length; cut++) {
      const ran: string[] = []
      const hasReplied = past.slice(0, cut).some(({ type }) => type === 'reply.end')
      const replies = hasReplied ? ['done'] : [wanted, 'done']
      const { agent, records } = await resumed(context, past.slice(0, cut), [serverNoting(ran)], ...replies)
      if (agent.pause !== null) await goOn(agent)
      const all = await records()
      const ended = all.flatMap((record) => (record.type === 'tool.end' ? [record.name] : []))
      assert.equal(ended.toSorted(), [...effects, 'asking', 'choosy'].toSorted(), `cut at ${cut}`)
      assert.is(all.filter(({ type }) => type === 'tools.changed').length, 1, `cut at ${cut}`)
    }
  })
})
