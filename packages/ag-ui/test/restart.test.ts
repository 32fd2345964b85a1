import { EventType, type Event } from '@ag-ui/core'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { requestIdOf } from '../src/ids.ts'
import { inputOf, ofType, readEvents, serveFrontEnds, Stream, typesOf, verified } from './agUiHarness.ts'

const careful = defineTool({
  name: 'careful',
  description: 'Asks.',
  input: z.object({}),
  needsApproval: true,
  run: async () => 'done',
})
const asking = () => scriptedModel([{ toolCalls: [{ name: 'careful', input: {} }] }])
/** Begins a reply and says no more. */
const stuck = () => ({
  parts: (async function* () {
    yield { type: 'text.delta', text: 'half an ' } as const
    await new Promise(() => {})
  })(),
})

/** The store as a process that is killed now leaves it. */
async function asLeft(store: Store): Promise<Store> {
  const copy = memoryStore()
  for (const agentId of await store.list()) {
    const records: LogRecord[] = []
    for await (const record of store.read(agentId)) records.push(record)
    const lease = await copy.open(agentId)
    await copy.append(agentId, records)
    await lease.release()
  }
  return copy
}

const next = (runId: string, text: string) =>
  inputOf({ runId, messages: [{ id: `${runId}/m`, role: 'user', content: text }] })
const isText = ({ events }: Stream): boolean => events.some(({ type }) => type === EventType.TEXT_MESSAGE_CONTENT)
const isInterrupt = (events: readonly Event[]) => {
  const [end] = ofType(events, EventType.RUN_FINISHED)
  return end?.outcome?.type === 'interrupt' ? end.outcome.interrupts : []
}

describe('AG-UI after a restart', (it) => {
  it('tells how a run ended that is asked for again, and runs nothing', async (context) => {
    const before = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel(['one', 'two']) })])
    const usage = (await readEvents(await before.post(inputOf()))).at(-1)
    await readEvents(await before.post(next('r2', 'more')))
    const model = scriptedModel(['three'])
    const after = await serveFrontEnds(context, [defineAgent({ name: 'a', model })], {
      runtime: { store: await asLeft(before.store) },
    })
    const events = await readEvents(await after.post(inputOf()))
    assert.equal(typesOf(events), ['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'STATE_SNAPSHOT', 'RUN_FINISHED'])
    assert.equal(events.at(-1), usage, 'the end is told as it was, its usage included')
    assert.equal(
      ofType(events, EventType.MESSAGES_SNAPSHOT)[0]!.messages.map(({ id, content }) => [id, content]),
      [
        ['m1', 'hello'],
        ['thread/t0', 'one'],
        ['thread/n3', 'more'],
        ['thread/t1', 'two'],
      ],
    )
    const [one, two] = await Promise.all([after.post(next('r2', 'more')), after.post(next('r2', 'more'))])
    for (const response of [one, two]) {
      const [end] = ofType(await readEvents(response), EventType.RUN_FINISHED)
      assert.equal(end!.result, { stopReason: 'stop', text: 'two' })
    }
    assert.is(model.requests.length, 0)
    assert.is(after.runtime.agent('thread')!.conversation.log().length, 4)
  })

  it('tells the error of a run that failed before', async (context) => {
    const failing = scriptedModel([{ error: { kind: 'auth', message: 'no key' } }])
    const before = await serveFrontEnds(context, [defineAgent({ name: 'a', model: failing })])
    await readEvents(await before.post(inputOf()))
    const model = scriptedModel(['fine'])
    const after = await serveFrontEnds(context, [defineAgent({ name: 'a', model })], {
      runtime: { store: await asLeft(before.store) },
    })
    const events = await readEvents(await after.post(inputOf()))
    assert.is(ofType(events, EventType.RUN_ERROR)[0]!.code, 'MODEL_AUTH')
    const messages = [...inputOf().messages, { id: 'm2', role: 'user' as const, content: 'again' }]
    await readEvents(await after.post(inputOf({ runId: 'r2', messages })))
    assert.equal(
      model.requests[0]!.messages.map(({ content }) => content),
      [
        [
          { type: 'text', text: 'hello' },
          { type: 'text', text: 'again' },
        ],
      ],
      'what was said before is not said again',
    )
  })

  it('joins a run that was cut off and goes on', async (context) => {
    const before = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel([stuck()]) })])
    const stream = new Stream(await before.post(inputOf()))
    await stream.until(isText)
    const gate = Promise.withResolvers<void>()
    const model = scriptedModel([
      async () => {
        await gate.promise
        return { text: 'a whole answer' }
      },
      'no',
    ])
    const after = await serveFrontEnds(context, [defineAgent({ name: 'a', model })], {
      runtime: { store: await asLeft(before.store) },
    })
    const [one, two] = await Promise.all([after.post(inputOf()), after.post(inputOf())])
    gate.resolve()
    for (const response of [one, two]) {
      const events = await readEvents(response)
      assert.is(events.at(-1)!.type, 'RUN_FINISHED')
      const client = await verified(events, inputOf().messages)
      assert.equal(
        client.messages.map(({ id, content }) => [id, content]),
        [
          ['m1', 'hello'],
          ['thread/t1', 'a whole answer'],
        ],
      )
    }
    assert.is(model.requests.length, 1)
  })

  it('joins a prompt that still waits for its turn', async (context) => {
    const before = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel([stuck()]) })])
    const stream = new Stream(await before.post(inputOf()))
    await stream.until(isText)
    const waits = new Stream(await before.post(next('r2', 'more')))
    await waits.until(({ events }) => events.length > 0)
    const model = scriptedModel(['first', 'second', 'no'])
    const after = await serveFrontEnds(context, [defineAgent({ name: 'a', model })], {
      runtime: { store: await asLeft(before.store) },
    })
    const client = await verified(await readEvents(await after.post(next('r2', 'more'))), next('r2', 'more').messages)
    assert.equal(
      client.messages.map(({ id, content }) => [id, content]),
      [
        ['thread/n1', 'hello'],
        ['thread/t1', 'first'],
        ['r2/m', 'more'],
        ['thread/t2', 'second'],
      ],
    )
    assert.is(model.requests.length, 2)
  })

  it('ends for whoever waits when the agent is closed', async (context) => {
    const before = await serveFrontEnds(context, [defineAgent({ name: 'a', model: asking(), tools: [careful] })])
    await readEvents(await before.post(inputOf()))
    before.runtime.agent('thread')!.prompt('more')
    const queued = before.runtime
      .agent('thread')!
      .dispatch({ type: 'agent.prompt', agentId: 'thread', content: 'and more' }, { requestId: requestIdOf('r2') })
    assert.ok(queued)
    await before.runtime.agent('thread')!.durable()
    const after = await serveFrontEnds(context, [defineAgent({ name: 'a', model: asking(), tools: [careful] })], {
      runtime: { store: await asLeft(before.store) },
    })
    const stream = new Stream(await after.post(next('r2', 'and more')))
    await stream.until(({ events }) => events.some(({ type }) => type === EventType.STATE_SNAPSHOT))
    await after.runtime.agent('thread')!.close()
    await stream.ended
    assert.equal(ofType(stream.events, EventType.RUN_FINISHED)[0]!.outcome, { type: 'cancelled' })
  })

  it('asks again what waits for a decision', async (context) => {
    const before = await serveFrontEnds(context, [defineAgent({ name: 'a', model: asking(), tools: [careful] })])
    const [first] = isInterrupt(await readEvents(await before.post(inputOf())))
    const model = scriptedModel(['fine'])
    const after = await serveFrontEnds(context, [defineAgent({ name: 'a', model, tools: [careful] })], {
      runtime: { store: await asLeft(before.store) },
    })
    const [again] = isInterrupt(await readEvents(await after.post(inputOf())))
    assert.equal(again, first)
    const resume = [{ interruptId: again!.id, status: 'resolved' as const, payload: { approved: true } }]
    const events = await readEvents(await after.post(inputOf({ runId: 'r2', messages: [], resume })))
    assert.is(ofType(events, EventType.TOOL_CALL_RESULT)[0]!.content, 'done')
    assert.equal(isInterrupt(await readEvents(await after.post(inputOf()))), [], 'it was answered')
  })

  it('asks again for a sub-agent, and shows whose the call is', async (context) => {
    const boss = (model: ReturnType<typeof scriptedModel>, workers: ReturnType<typeof scriptedModel>) => {
      const worker = defineAgent({ name: 'worker', description: 'Works.', model: workers, tools: [careful] })
      return defineAgent({ name: 'boss', model, agents: [worker] })
    }
    const delegate = { toolCalls: [{ name: 'worker', input: { task: 'work' } }] }
    const before = await serveFrontEnds(context, [boss(scriptedModel([delegate]), asking())])
    const [first] = isInterrupt(await readEvents(await before.post(inputOf())))
    assert.ok(first)
    const after = await serveFrontEnds(context, [boss(scriptedModel(['all done']), scriptedModel(['worked']))], {
      runtime: { store: await asLeft(before.store) },
    })
    const events = await readEvents(await after.post(inputOf()))
    const [again] = isInterrupt(events)
    assert.equal(again, first)
    assert.is(ofType(events, EventType.SUBAGENT_STARTED)[0]!.subagentRunId, again!.subagentRunId)
    const resume = [{ interruptId: again!.id, status: 'resolved' as const, payload: { approved: true } }]
    const more = await readEvents(await after.post(inputOf({ runId: 'r2', messages: [], resume })))
    assert.is(ofType(more, EventType.RUN_FINISHED)[0]!.result?.text, 'all done')
    assert.ok(ofType(more, EventType.TEXT_MESSAGE_CONTENT).some(({ delta }) => delta === 'worked'))
  })
})
