import { fileStore, memoryStore, type Agent, type LogRecord } from '../../src/index.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineTool, type ToolEffects } from '../../src/actors/tools/defineTool.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { cutStore, recordsOf, settled } from './cutLogs.ts'
import { storeFolder } from '../../packages/stores/test/storeFolder.ts'
import { assert, describe } from '../support/suite.ts'
import { quiet } from '../support/agentHarness.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { z } from 'zod'
import { heldCalls } from '../support/heldCalls.ts'

/** Counts to three by a tool, in parallel with another call, then answers; decided from the request alone. */
const counting = (effects: ToolEffects) => {
  const requests: ModelRequest[] = []
  const keys: string[] = []
  const model = policyModel((request) => {
    requests.push(request)
    const done = request.messages.filter(
      (message) => message.role === 'toolResult' && message.toolName === 'count',
    ).length
    if (done >= 3) return 'counted'
    return {
      toolCalls: [
        { name: 'count', input: { n: done } },
        { name: 'look', input: {} },
      ],
    }
  })
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    input: z.object({ n: z.number() }),
    effects,
    run: ({ n }, { key }) => {
      keys.push(key)
      return String(n)
    },
  })
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    effects: 'none',
    run: () => 'seen',
  })
  return {
    definition: defineAgent({ name: 'counter', model, tools: [count, look], checkRequests: true }),
    requests,
    keys,
  }
}

const trunkText = (agent: Agent): string =>
  agent.conversation
    .trunk()
    .map(({ message }) => `${message.role} ${JSON.stringify(message.content)}`)
    .join('\n')
    // Ids of calls hold the turn, and a resumed run begins another.
    .replaceAll(/call_\d+/g, 'call')

/** Nothing is under way any more: done, or waiting for people. */
async function atRest(agent: Agent): Promise<void> {
  await quiet()
  while (agent.state !== 'idle' && agent.state !== 'paused') await quiet()
}

describe('an agent whose process died', (it) => {
  for (const effects of ['none', 'irreversible'] as const) {
    it(`at any record goes on to the same end, with tools of effects ${effects}`, { timeoutMs: 20_000 }, async () => {
      const whole = counting(effects)
      const store = memoryStore()
      const runtime = await createRuntime({ store })
      const agent = await runtime.spawn(whole.definition, { id: 'c1' })
      await agent.prompt('count').result
      const records = await recordsOf(store, 'c1')
      const undisturbed = trunkText(agent)
      await runtime.close()
      for (let cut = 3; cut < records.length; cut++) {
        const left = await cutStore('c1', records.slice(0, cut))
        const again = counting(effects)
        const second = await createRuntime({ store: left })
        const resumed = await second.resume('c1', again.definition, { continue: false })
        if (resumed.pause === null) {
          assert.is(records[cut - 1]!.type, 'run.end', `cut at ${cut}`)
          await second.close()
          continue
        }
        assert.is(resumed.pause.type, 'interrupted')
        const result = await resumed.resume().result
        assert.is(result.stopReason, 'stop', `cut at ${cut}`)
        for (const request of again.requests) assert.equal(checkRequest(request), [])
        if (effects === 'none') assert.is(trunkText(resumed), undisturbed, `cut at ${cut}`)
        else if (records[cut - 1]!.type === 'tool.start')
          assert.match(trunkText(resumed), /not known whether it happened/)
        const log = await recordsOf(left, 'c1')
        assert.equal(log.slice(0, cut), records.slice(0, cut))
        assert.equal(
          rebuildConversation(log)
            .trunk()
            .map(({ id }) => id),
          resumed.conversation.trunk().map(({ id }) => id),
        )
        const said = resumed.conversation.trunk().filter(({ message }) => message.role === 'user')
        assert.is(said.length, 1)
        await second.close()
      }
    })
  }

  it('runs an idempotent call again under the key it had', async () => {
    const whole = counting('idempotent')
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(whole.definition, { id: 'c1' })
    await agent.prompt('count').result
    const records = await recordsOf(store, 'c1')
    await runtime.close()
    const start = records.findIndex((record) => record.type === 'tool.start' && record.name === 'count')
    const again = counting('idempotent')
    const second = await createRuntime({ store: await cutStore('c1', records.slice(0, start + 1)) })
    const resumed = await second.resume('c1', again.definition)
    await settled(resumed)
    assert.is(again.keys[0], whole.keys[0])
    await second.close()
  })

  it('loses nothing that was said, wherever it was cut', async () => {
    const definition = () =>
      defineAgent({
        name: 'listener',
        model: policyModel(({ messages }) =>
          messages.filter(({ role }) => role === 'toolResult').length < 2
            ? { toolCalls: [{ name: 'look', input: {} }] }
            : 'heard',
        ),
        tools: [
          defineTool({ name: 'look', description: 'Looks.', input: z.object({}), effects: 'none', run: () => 'seen' }),
        ],
      })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(definition(), { id: 'l1' })
    agent.subscribe((event) => {
      if (event.type === 'tool.start' && event.turnIndex === 0) agent.steer('steered')
      if (event.type === 'tool.start' && event.turnIndex === 1) agent.followUp('followed')
      if (event.type === 'turn.start' && event.turnIndex === 1)
        agent.prompt('second', { context: [{ content: 'memory', provenance: { type: 'unknown' } }] })
    })
    await agent.prompt('first').result
    await atRest(agent)
    const records = await recordsOf(store, 'l1')
    await runtime.close()
    const saidBy = (log: readonly LogRecord[]): string[] =>
      rebuildConversation(log)
        .trunk()
        .flatMap(({ message }) => (message.role === 'user' ? [textOf(message.content)] : []))
    assert.equal(saidBy(records).toSorted(), ['first', 'followed', 'memory', 'second', 'steered'])
    for (let cut = 3; cut < records.length; cut++) {
      const kept = records.slice(0, cut)
      const queued = kept.flatMap((record) => (record.type === 'queue.changed' ? (record.added ?? []) : []))
      const sound = [
        'first',
        ...queued.flatMap(({ content, context = [] }) => [...context, { content }].map((part) => textOf(part.content))),
      ]
      const second = await createRuntime({ store: await cutStore('l1', kept) })
      const resumed = await second.resume('l1', definition())
      await atRest(resumed)
      const said = resumed.conversation
        .trunk()
        .flatMap(({ message }) => (message.role === 'user' ? [textOf(message.content)] : []))
      assert.equal(said.toSorted(), sound.toSorted(), `cut at ${cut}, after ${kept.at(-1)!.type}`)
      await second.close()
    }
  })

  it('asks for an approval that was not asked for yet, and keeps to a refusal', async () => {
    let runs = 0
    const definition = () =>
      defineAgent({
        name: 'careful',
        model: policyModel(({ messages }) =>
          messages.some(({ role }) => role === 'toolResult') ? 'well' : { toolCalls: [{ name: 'danger', input: {} }] },
        ),
        tools: [
          defineTool({
            name: 'danger',
            description: 'Dangerous.',
            input: z.object({}),
            needsApproval: async () => true,
            run: () => void (runs += 1),
          }),
        ],
      })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(definition(), { id: 'd1' })
    agent.subscribe((event) => {
      if (event.type === 'approval.requested') agent.decide(event.callId, 'deny', 'too dangerous')
    })
    await agent.prompt('go').result
    const records = await recordsOf(store, 'd1')
    await runtime.close()
    const after = (type: LogRecord['type']): LogRecord[] =>
      records.slice(0, records.findIndex((record) => record.type === type) + 1)

    const second = await createRuntime({ store: await cutStore('d1', after('reply.end')) })
    const asked = await second.resume('d1', definition())
    await atRest(asked)
    assert.is(heldCalls(asked).length, 1)
    await second.close()

    const third = await createRuntime({ store: await cutStore('d1', after('approval.decided')) })
    const denied = await third.resume('d1', definition())
    await atRest(denied)
    assert.equal(heldCalls(denied), [])
    const result = denied.conversation.trunk().find(({ message }) => message.role === 'toolResult')!.message
    assert.ok(result.role === 'toolResult' && result.synthetic === 'denied')
    assert.match(textOf(result.content), 'too dangerous')
    assert.is(runs, 0)
    await third.close()
  })

  it('does not go on with a paused run that an abort gave up', async () => {
    const definition = () =>
      defineAgent({
        name: 'counter',
        model: counting('none').definition.model,
        limits: { turns: 1 },
        tools: [...counting('none').definition.tools.values()],
      })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(definition(), { id: 'p1' })
    assert.is((await agent.prompt('count').result).stopReason, 'paused')
    agent.abort()
    await agent.close()
    const again = await runtime.resume('p1', definition())
    assert.is(again.pause, null)
    assert.is(again.state, 'idle')
    await runtime.close()
  })

  it('has what waited: queued prompts, steering and approvals', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'ask', input: {} }] }, 'asked', 'second'])
    const ask = defineTool({
      name: 'ask',
      description: 'Asks.',
      input: z.object({}),
      needsApproval: true,
      run: () => 'yes',
    })
    const definition = defineAgent({ name: 'asker', model, tools: [ask] })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(definition, { id: 'a1' })
    agent.prompt('first')
    agent.prompt('then this')
    for await (const event of agent.events()) if (event.type === 'approval.requested') break
    await runtime.close()

    const second = await createRuntime({ store: await cutStore('a1', await recordsOf(store, 'a1')) })
    const resumed = await second.resume('a1', definition)
    const [callId] = heldCalls(resumed)
    assert.ok(callId)
    const ends: string[] = []
    resumed.subscribe((event) => event.type === 'run.end' && ends.push(event.stopReason))
    resumed.decide(callId, 'approve')
    for await (const event of resumed.events()) if (event.type === 'run.end' && ends.length === 2) break
    assert.equal(ends, ['stop', 'stop'])
    assert.equal(
      resumed.conversation
        .trunk()
        .filter(({ message }) => message.role === 'user')
        .map(({ message }) => message.content),
      [[{ type: 'text', text: 'first' }], [{ type: 'text', text: 'then this' }]],
    )
    await second.close()
  })

  it('has no fresh allowance', async () => {
    const whole = counting('none')
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(whole.definition, { id: 'c1' })
    await agent.prompt('count', { limits: { turns: 3 } }).result
    const records = await recordsOf(store, 'c1')
    await runtime.close()
    const second = records.findIndex((record) => record.type === 'turn.end' && record.turnIndex === 1)
    const resuming = await createRuntime({ store: await cutStore('c1', records.slice(0, second + 1)) })
    const resumed = await resuming.resume('c1', counting('none').definition, { continue: false })
    const result = await resumed.resume().result
    assert.is(result.stopReason, 'paused')
    assert.is(result.turns, 1)
    await resuming.close()
  })

  it('is refused with a reason: unknown, stopped, running, of another definition', async (context) => {
    const { dir } = await storeFolder(context)
    const { definition } = counting('none')
    const runtime = await createRuntime({ store: fileStore(dir) })
    await assert.rejects(runtime.resume('nobody', definition), /There is no log of agent "nobody"/)
    const agent = await runtime.spawn(definition, { id: 'c1' })
    await assert.rejects(runtime.resume('c1', definition), /is running already/)
    await agent.close()
    const other = defineAgent({ name: 'other', model: scriptedModel([]) })
    await assert.rejects(runtime.resume('c1', other), /is of definition "counter", not "other"/)
    const again = await runtime.resume('c1', definition)
    await again.stop()
    await assert.rejects(runtime.resume('c1', definition), /was stopped for good/)
    await assert.rejects(runtime.resume('c1', {} as never), /resume takes what defineAgent returns/)
    await runtime.close()
  })
})
