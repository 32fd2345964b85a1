import { EventType } from '@ag-ui/core'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { inputOf, ofType, readEvents, serveFrontEnds, Stream, verified } from './agUiHarness.ts'

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  input: z.object({}),
  run: async () => 'said',
})
const model = () => scriptedModel([{ toolCalls: [{ name: 'echo', input: {} }] }, 'fine'])

/** A memory store that does something before it takes records. */
function storeThat(before: (records: readonly LogRecord[]) => Promise<void> | void): Store {
  const store = memoryStore()
  return {
    ...store,
    append: async (agentId, records) => {
      await before(records)
      await store.append(agentId, records)
    },
  }
}

const hasResult = ({ events }: Stream): boolean => events.some(({ type }) => type === EventType.TOOL_CALL_RESULT)

describe('AG-UI events', (it) => {
  it('are told once the store has what led to them', async (context) => {
    const gate = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const store = storeThat((records) => {
      if (!records.some(({ type }) => type === 'tool.end')) return
      reached.resolve()
      return gate.promise
    })
    const { post, server, runtime } = await serveFrontEnds(
      context,
      [defineAgent({ name: 'a', model: model(), tools: [echo] })],
      { runtime: { store } },
    )
    const stream = new Stream(await post(inputOf()))
    await reached.promise
    assert.is(runtime.agent('thread')!.conversation.log().length, 3)
    // Whoever comes now may not know more either.
    const late = new Stream(await post(inputOf()))
    await (await fetch(`http://127.0.0.1:${server.port}/healthz`)).text()
    assert.not(hasResult(stream))
    assert.equal(late.events, [])
    gate.resolve()
    await Promise.all([stream.ended, late.ended])
    assert.ok(hasResult(stream))
    for (const { events } of [stream, late]) {
      const client = await verified(events, inputOf().messages)
      assert.equal(
        client.messages.map(({ content }) => content ?? ''),
        ['hello', '', 'said', 'fine'],
      )
    }
  })

  it('come as they happen while the store fails, and the run ends with a question', async (context) => {
    let isBroken = true
    const store = storeThat((records) => {
      if (isBroken && records.some(({ type }) => type === 'tool.end')) throw new Error('disk full')
    })
    const { post } = await serveFrontEnds(context, [defineAgent({ name: 'a', model: model(), tools: [echo] })], {
      runtime: { store },
    })
    const events = await readEvents(await post(inputOf()))
    const { outcome } = ofType(events, EventType.RUN_FINISHED)[0]!
    const [pause] = outcome?.type === 'interrupt' ? outcome.interrupts : []
    assert.is(pause!.reason, 'escapement:store')
    isBroken = false
    const resume = [{ interruptId: pause!.id, status: 'resolved' as const }]
    const more = await readEvents(await post(inputOf({ runId: 'r2', messages: [], resume })))
    assert.is(ofType(more, EventType.RUN_FINISHED)[0]!.result?.text, 'fine')
  })

  it('of which another process knows nothing, as it has the log by now, are told to nobody, and it is said where to ask', async (context) => {
    const store = storeThat((records) => {
      if (records.some(({ type }) => type === 'tool.end')) throw new RuntimeError('STORE_LEASE_LOST', 'taken')
    })
    const { post } = await serveFrontEnds(context, [defineAgent({ name: 'a', model: model(), tools: [echo] })], {
      runtime: { store },
    })
    const stream = new Stream(await post(inputOf()))
    await stream.ended
    assert.not(hasResult(stream))
    assert.is(ofType(stream.events, EventType.TOOL_CALL_END).length, 1)
    assert.is(ofType(stream.events, EventType.RUN_ERROR)[0]?.code, 'STORE_LEASE_LOST')
    assert.is(stream.events.at(-1)!.type, EventType.RUN_ERROR)
  })

  it('of a slow store do not pile up without end', async (context) => {
    const gate = Promise.withResolvers<void>()
    let isHeld = false
    let sayMore = (): void => {}
    const store = storeThat(() => (isHeld ? gate.promise : undefined))
    const words = Array.from({ length: 3_000 }, (_, index) => `${index} `)
    const streaming = scriptedModel([
      {
        parts: (async function* () {
          isHeld = true
          // Something of the agent is to be written all the while.
          sayMore()
          for (const text of words) yield { type: 'text.delta', text } as const
          const content = [{ type: 'text' as const, text: words.join('') }]
          const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
          queueMicrotask(() => gate.resolve())
          yield { type: 'done', reply: { content, stopReason: 'stop', usage } } as const
        })(),
      },
      'last',
    ])
    const definition = defineAgent({ name: 'a', model: streaming })
    const { runtime, post } = await serveFrontEnds(context, [definition], { runtime: { store } })
    sayMore = () => runtime.agent('thread')!.followUp('and?')
    const events = await readEvents(await post(inputOf()))
    assert.ok(ofType(events, EventType.TEXT_MESSAGE_CONTENT).length < 1_200)
    const client = await verified(events, inputOf().messages)
    assert.equal(
      client.messages.map(({ content }) => content),
      ['hello', words.join(''), 'and?', 'last'],
    )
  })
})
