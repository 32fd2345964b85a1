import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { restateWorker, type RestateWorker } from '../../../../src/restate.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { sqliteStore } from '../../../../src/sqlite.ts'
import { calls, tool } from '../../../../test/support/agentHarness.ts'
import { checkLog } from '../../../../test/support/journeyRules.ts'
import { assert } from '../../../../test/support/suite.ts'
import { Switchboard } from './crash/switchboard.ts'
import type { Invocation } from './engine.ts'
import { heldReply } from './heldReply.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine, type EngineContext } from './withEngine.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Waits until the engine has nothing to do for an object. */
async function idle({ engine, name }: Pick<EngineContext, 'engine' | 'name'>): Promise<void> {
  while ((await engine.invocations(name)).length > 0) await turn()
}

/** Waits until the engine has begun for an object: what an agent sends arrives a moment after the answer of that agent. */
async function begun({ engine, name }: Pick<EngineContext, 'engine' | 'name'>): Promise<readonly Invocation[]> {
  for (;;) {
    const invocations = await engine.invocations(name)
    if (invocations.length > 0) return invocations
    await turn()
  }
}

/** Messages of people, in the order of the log. */
const said = (records: readonly LogRecord[]): string[] =>
  records.flatMap((record) =>
    record.type === 'message.added' && record.message.role === 'user'
      ? record.message.content.map((block) => (block.type === 'text' ? block.text : ''))
      : [],
  )

async function until(store: Store, agentId: string, type: LogRecord['type']): Promise<LogRecord> {
  for (;;) {
    const found = (await recordsIn(store, agentId)).find((record) => record.type === type)
    if (found !== undefined) return found
    await turn()
  }
}

/** A worker for each definition, all behind one address that leads to the first. */
async function workersOf(
  { cleanup, engine, file, name }: EngineContext,
  definitions: readonly AgentDefinition[],
  warnings: string[] = [],
): Promise<{
  readonly board: Switchboard
  readonly ports: readonly number[]
  readonly workers: readonly RestateWorker[]
}> {
  const board = await Switchboard.open()
  cleanup(() => board.close())
  const quiet = (): void => {}
  const logger = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (_: object, text: string) => void warnings.push(text),
  }
  const workers: RestateWorker[] = []
  const ports: number[] = []
  for (const definition of definitions) {
    const worker = await restateWorker({ definitions: [definition], store: sqliteStore(file), name, logger })
    cleanup(() => worker.close())
    workers.push(worker)
    ports.push((await worker.listen({ port: 0 })).port)
  }
  board.switchTo(ports[0]!)
  await engine.register(board.url)
  return { board, ports, workers }
}

describeWithEngine('agents that an engine places', (it) => {
  it('end what they do when their invocation is cancelled, and go on with the next', async (context) => {
    const { worker, post, store, engine, name } = context
    const held = heldReply('Never.')
    await worker([defineAgent({ name: 'coder', model: scriptedModel([held.reply, { text: 'Second.' }]) })])
    const prompted = post('a1', 'prompt', { content: 'First.' })
    await held.asked
    const [invocation] = await engine.invocations(name)
    await engine.cancel(invocation!.id)
    assert.is((await prompted).status, 409)
    const records = await recordsIn(store(), 'a1')
    assert.equal(
      records.flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : [])),
      ['aborted'],
    )
    assert.is((await post('a1', 'prompt', { content: 'Second.' })).body['stopReason'], 'stop')
  })

  it('go on after the engine was killed, in the same process, and hear no command twice', async (context) => {
    const { worker, client, store, engine } = context
    const held = heldReply('Never.')
    const again = heldReply('Done.')
    await worker([defineAgent({ name: 'coder', model: scriptedModel([held.reply, again.reply, { text: 'All.' }]) })])
    const asking = await client()
    const command = { type: 'agent.prompt', agentId: 'a1', content: 'First.' } as const
    const prompted = asking.request(command, { requestId: 'p1' })
    await held.asked
    await (await asking.open('a1')).steer('Second.')
    await until(store(), 'a1', 'queue.changed')
    await engine.kill()
    await engine.begin()
    await again.asked
    again.goOn()
    assert.is((await prompted).status, 'done')
    await idle(context)
    const records = await recordsIn(store(), 'a1')
    assert.equal(said(records), ['First.', 'Second.'])
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('lose no follow-up that comes while a run ends, and hear each once', async (context) => {
    const { worker, client, store } = context
    const replies = Array.from({ length: 40 }, () => ({ text: 'Yes.' }))
    await worker([defineAgent({ name: 'coder', model: scriptedModel(replies), maxQueue: 100 })])
    const agent = await (await client()).open('a1')
    const run = agent.prompt('0')
    const all = Array.from({ length: 12 }, (_, index) => agent.followUp(String(index + 1)))
    await Promise.all([run.result, ...all])
    const more = Array.from({ length: 12 }, (_, index) => agent.followUp(String(index + 13)))
    await Promise.all(more)
    while (said(await recordsIn(store(), 'a1')).length < 25) await turn()
    await idle(context)
    const records = await recordsIn(store(), 'a1')
    assert.equal(
      said(records).toSorted((a, b) => Number(a) - Number(b)),
      Array.from({ length: 25 }, (_, index) => String(index)),
    )
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('hear 200 commands that come at once, each once', { timeoutMs: 60_000 }, async (context) => {
    const { worker, client, store } = context
    const all = Array.from({ length: 200 }, (_, index) => String(index + 1))
    const held = heldReply('Well.')
    const model = scriptedModel([held.reply, ...all.map((text) => ({ text: `Heard ${text}.` }))])
    await worker([defineAgent({ name: 'coder', model, maxQueue: 1_000 })])
    const agent = await (await client()).open('a1')
    const run = agent.prompt('0')
    await held.asked
    await Promise.all(all.map((content) => agent.steer(content)))
    const queued = async (): Promise<number> =>
      (await recordsIn(store(), 'a1')).filter(({ type }) => type === 'queue.changed').length
    while ((await queued()) < all.length) await turn()
    held.goOn()
    assert.is((await run.result).text, 'Heard 200.')
    await idle(context)
    const records = await recordsIn(store(), 'a1')
    assert.equal(
      said(records).toSorted((a, b) => Number(a) - Number(b)),
      ['0', ...all],
    )
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('may be silent for longer than the engine waits, and then hear what they were told meanwhile', async (context) => {
    const { worker, client, store } = context
    const held = heldReply('Well.')
    const model = scriptedModel([held.reply, { text: 'Now I know.' }])
    await worker([defineAgent({ name: 'coder', model })], { inactivityMs: 100 })
    const agent = await (await client()).open('a1')
    const run = agent.prompt('Think.')
    await held.asked
    // The engine asks it to rest, which it cannot before its model has answered.
    const began = performance.now()
    while (performance.now() - began < 1_000) await turn()
    await agent.followUp('And say it.')
    held.goOn()
    assert.is((await run.result).stopReason, 'stop')
    await idle(context)
    const records = await recordsIn(store(), 'a1')
    assert.equal(said(records), ['Think.', 'And say it.'])
    // What comes while the engine waits for it to rest may have a run of its own.
    const ends = records.flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : []))
    assert.equal(new Set(ends), new Set(['stop']))
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('keep a prompt waiting behind an approval, and hold nothing meanwhile', async (context) => {
    const { worker, client, store } = context
    const publish = tool('publish', () => 'published', { needsApproval: true })
    const model = scriptedModel([calls('c', 'publish'), { text: 'It is out.' }, { text: 'Next.' }])
    await worker([defineAgent({ name: 'coder', model, tools: [publish] })])
    const asking = await client()
    const prompt = { type: 'agent.prompt', agentId: 'a1' } as const
    const first = await asking.request({ ...prompt, content: 'Publish.' })
    const second = await asking.request({ ...prompt, content: 'Go on.' })
    assert.equal([first.status, second.status], ['waiting', 'waiting'])
    await idle(context)
    const callId = first.callIds?.[0] ?? ''
    const decided = await asking.request({ type: 'agent.decide', agentId: 'a1', callId, decision: 'approve' })
    assert.is(decided.status, 'done')
    const records = await recordsIn(store(), 'a1')
    assert.equal(said(records), ['Publish.', 'Go on.'])
    assert.is(records.filter(({ type }) => type === 'run.start').length, 2)
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('have their sub-agents with them, whose calls are decided by key', async (context) => {
    const { worker, client } = context
    const dig = tool('dig', () => 'found', { needsApproval: true })
    const helper = defineAgent({
      name: 'helper',
      model: scriptedModel([calls('d', 'dig'), { text: 'Gold.' }]),
      tools: [dig],
    })
    const model = scriptedModel([calls('h', ['helper', { task: 'Dig.' }]), { text: 'There is gold.' }])
    await worker([defineAgent({ name: 'coder', model, agents: [helper] })])
    const asking = await client()
    const first = await asking.request({ type: 'agent.prompt', agentId: 'a1', content: 'Find gold.' })
    assert.is(first.status, 'waiting')
    const callId = first.callIds?.[0] ?? ''
    const decided = await asking.request({ type: 'agent.decide', agentId: 'a1', callId, decision: 'approve' })
    assert.is(decided.status, 'done')
    const child = callId.split('/')[0] ?? ''
    const refused = await asking.request({ type: 'agent.steer', agentId: child, content: 'Dig deeper.' })
    assert.is(refused.status, 'refused')
    assert.match(String(refused.error?.message), /is a sub-agent, which lives with "a1"/)
  })

  it('make agents of their own of those that they detach', async (context) => {
    const { worker, client, store } = context
    const held = heldReply('Found it.')
    const scout = defineAgent({ name: 'scout', model: scriptedModel([held.reply]) })
    const model = scriptedModel([calls('s', ['scout', { task: 'Look.' }]), { text: 'It looks.' }])
    await worker([defineAgent({ name: 'coder', model, agents: [{ definition: scout, detach: true }] })])
    const first = await (await client()).request({ type: 'agent.prompt', agentId: 'a1', content: 'Look around.' })
    assert.equal([first.status, first.stopReason], ['done', 'stop'])
    await held.asked
    const own = await begun(context)
    assert.equal(
      own.map(({ target }) => target.split('/').at(-1)),
      ['carry'],
    )
    held.goOn()
    await idle(context)
    const scoutId = (await store().list()).find((id) => id !== 'a1') ?? ''
    const records = await recordsIn(store(), scoutId)
    assert.equal(checkLog(records, { isWhole: true }), [])
    // It went on where it was, and asked its model once.
    assert.equal(
      records.flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : [])),
      ['stop'],
    )
  })

  it('make agents of their own of those that they detach also where the first record takes long to be stored', async (context) => {
    const { worker, client, file } = context
    const held = heldReply('Found it.')
    const scout = defineAgent({ name: 'scout', model: scriptedModel([held.reply]) })
    const model = scriptedModel([calls('s', ['scout', { task: 'Look.' }]), { text: 'It looks.' }])
    const store = sqliteStore(file)
    const append = store.append.bind(store)
    store.append = async (...args) => {
      await turn()
      await append(...args)
    }
    await worker([defineAgent({ name: 'coder', model, agents: [{ definition: scout, detach: true }] })], { store })
    await (await client()).request({ type: 'agent.prompt', agentId: 'a1', content: 'Look around.' })
    assert.is((await begun(context)).length, 1)
    held.goOn()
  })

  it('wait for those that report to them', async (context) => {
    const { worker, client, store } = context
    const scout = defineAgent({ name: 'scout', model: scriptedModel([{ text: 'Found it.' }]) })
    const model = scriptedModel([calls('s', ['scout', { task: 'Look.' }]), { text: 'It looks.' }, { text: 'There.' }])
    await worker([defineAgent({ name: 'coder', model, agents: [{ definition: scout, detach: 'report' }] })])
    const first = await (await client()).request({ type: 'agent.prompt', agentId: 'a1', content: 'Look around.' })
    assert.is(first.status, 'done')
    const records = await recordsIn(store(), 'a1')
    assert.match(JSON.stringify(records), /Found it\./)
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('are read again where another worker has had them, which is told when its code is another', async (context) => {
    const { client, store } = context
    const warnings: string[] = []
    const saying = (text: string): AgentDefinition =>
      defineAgent({ name: 'coder', instructions: `Say ${text}`, model: scriptedModel([{ text }, { text }, { text }]) })
    const { board, ports } = await workersOf(context, [saying('one'), saying('two')], warnings)
    const asking = await client()
    const prompt = (content: string) => asking.request({ type: 'agent.prompt', agentId: 'a1', content })
    await prompt('1')
    await prompt('2')
    assert.equal(warnings, [])
    board.switchTo(ports[1]!)
    await prompt('3')
    board.switchTo(ports[0]!)
    await prompt('4')
    const records = await recordsIn(store(), 'a1')
    assert.equal(said(records), ['1', '2', '3', '4'])
    const answers = records.flatMap((record) =>
      record.type === 'reply.end' ? [JSON.stringify(record.message.content)] : [],
    )
    assert.equal(
      answers.map((answer) => /one|two/.exec(answer)?.[0]),
      ['one', 'one', 'two', 'one'],
    )
    assert.equal(checkLog(records, { isWhole: true }), [])
    assert.is(warnings.length, 2)
    assert.match(warnings[0] ?? '', /the definition of this agent is not the one/)
  })

  it('are let go of by a worker that is closed, and go on in another one', async (context) => {
    const { client, store } = context
    const held = heldReply('Never.')
    const { board, ports, workers } = await workersOf(context, [
      defineAgent({ name: 'coder', model: scriptedModel([held.reply]) }),
      defineAgent({ name: 'coder', model: scriptedModel([{ text: 'Done.' }]) }),
    ])
    const prompted = (await client()).request({ type: 'agent.prompt', agentId: 'a1', content: 'First.' })
    await held.asked
    board.switchTo(ports[1]!)
    await workers[0]!.close()
    assert.is((await prompted).status, 'done')
    const ends = (await recordsIn(store(), 'a1')).filter((record) => record.type === 'run.end')
    assert.equal(
      ends.map(({ stopReason, reason }) => [stopReason, reason?.type]),
      [
        ['paused', 'interrupted'],
        ['stop', undefined],
      ],
    )
  })
})
