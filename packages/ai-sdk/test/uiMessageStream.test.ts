import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { z } from 'zod'
import { uiMessageStream } from '../../../src/aiSdk.ts'
import { createRuntime, defineAgent, defineTool, memoryStore } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { heldReply, shape } from './chatHarness.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  needsApproval: true,
  run: async () => 'seen',
})

/** The message that a stream becomes in the AI SDK, and its chunks. */
async function read(
  stream: ReadableStream<UIMessageChunk>,
): Promise<{ readonly message: UIMessage | undefined; readonly chunks: UIMessageChunk[] }> {
  const [one, other] = stream.tee()
  const chunks: UIMessageChunk[] = []
  for await (const chunk of other) chunks.push(chunk)
  let message: UIMessage | undefined
  for await (const next of readUIMessageStream({ stream: one, terminateOnError: false })) message = next
  return { message, chunks }
}

async function running({ cleanup }: CaseContext) {
  const runtime = await createRuntime({ store: memoryStore() })
  cleanup(() => runtime.close())
  return runtime
}

describe('uiMessageStream', (it) => {
  it('gives the message of a run, and how it ended', async (context) => {
    const runtime = await running(context)
    const agent = await runtime.spawn(
      defineAgent({ name: 'a', model: scriptedModel([{ thinking: 'hm', text: 'Yes.' }]) }),
    )
    const run = agent.prompt('go')
    const { message, chunks } = await read(uiMessageStream(run))
    assert.is(message?.id, `${agent.id}/${run.requestId}`)
    assert.equal(shape(message), ['step-start', 'reasoning hm', 'text Yes.'])
    const last = chunks.at(-1)
    assert.ok(last?.type === 'finish')
    assert.equal([last.finishReason, (last.messageMetadata as { stopReason: string }).stopReason], ['stop', 'stop'])
  })

  it('tells the error of a run that failed', async (context) => {
    const runtime = await running(context)
    const model = scriptedModel([{ error: { kind: 'auth', message: 'no key' } }])
    const agent = await runtime.spawn(defineAgent({ name: 'a', model }))
    const { chunks } = await read(uiMessageStream(agent.prompt('go')))
    const errors = chunks.filter(({ type }) => type === 'error' || type === 'finish')
    assert.match(JSON.stringify(errors[0]), /no key/)
    assert.equal(
      errors.map(({ type }) => type),
      ['error', 'finish'],
    )
  })

  it('gives what an agent is doing from its beginning, until people are to decide and after it', async (context) => {
    const runtime = await running(context)
    const held = heldReply('half an ', 'half an answer')
    const model = scriptedModel([{ toolCalls: [{ name: 'look', input: {} }] }, held])
    const agent = await runtime.spawn(defineAgent({ name: 'a', model, tools: [look] }))
    const result = agent.prompt('go').result
    const asked = await read(uiMessageStream(agent))
    assert.equal(shape(asked.message), ['step-start', 'look:approval-requested'])
    assert.equal(asked.chunks.at(-1), { type: 'finish', finishReason: 'tool-calls' })
    const growing = new Promise<void>((resolve) => {
      agent.subscribe((event) => {
        if (event.type === 'reply.delta') resolve()
      })
    })
    agent.decide(agent.pending()[0]!.key, 'approve')
    await growing
    const [early, whole] = uiMessageStream(agent).tee()
    const reading = read(whole)
    const reader = early.getReader()
    let first: UIMessageChunk | undefined
    while (first?.type !== 'text-delta') first = (await reader.read()).value
    assert.is(first.delta, 'half an ', 'the beginning, which came before')
    held.release()
    const { message } = await reading
    assert.equal(shape(message), ['step-start', 'look:output-available', 'step-start', 'text half an answer'])
    await result
    assert.equal((await read(uiMessageStream(agent))).message, message, 'the newest, when it is over')
  })

  it('is empty of an agent to which nothing was said', async (context) => {
    const runtime = await running(context)
    const agent = await runtime.spawn(defineAgent({ name: 'a', model: scriptedModel([]) }))
    assert.equal((await read(uiMessageStream(agent))).chunks, [])
  })

  it('stops nothing when it is cancelled', async (context) => {
    const runtime = await running(context)
    const agent = await runtime.spawn(defineAgent({ name: 'a', model: scriptedModel(['one', 'two']) }))
    for (const run of [agent.prompt('go'), agent.prompt('more')]) {
      const reader = uiMessageStream(run).getReader()
      await reader.read()
      await reader.cancel()
      assert.is((await run.result).stopReason, 'stop')
    }
  })

  it('of a run is cancelled at once, also while people are to decide', async (context) => {
    const runtime = await running(context)
    const model = scriptedModel([{ toolCalls: [{ name: 'look', input: {} }] }])
    const agent = await runtime.spawn(defineAgent({ name: 'a', model, tools: [look] }))
    const reader = uiMessageStream(agent.prompt('go')).getReader()
    const readAll = async (): Promise<void> => {
      while (!(await reader.read()).done);
    }
    const reading = readAll()
    await agent.settled()
    await reader.cancel()
    await reading
    assert.is(agent.pending().length, 1)
  })

  it('follows the agent no longer than it is read', async (context) => {
    const runtime = await running(context)
    const model = scriptedModel([{ toolCalls: [{ name: 'look', input: {} }] }])
    const agent = await runtime.spawn(defineAgent({ name: 'a', model, tools: [look] }))
    let followers = 0
    const subscribe = agent.subscribe.bind(agent) as (...how: readonly unknown[]) => () => void
    agent.subscribe = (...how: readonly unknown[]) => {
      const end = subscribe(...how)
      followers += 1
      return () => {
        followers -= 1
        end()
      }
    }
    agent.prompt('go')
    await agent.settled()
    await uiMessageStream(agent).cancel()
    const reader = uiMessageStream(agent).getReader()
    await reader.read()
    await reader.cancel()
    await read(uiMessageStream(agent))
    assert.equal([agent.pending().length, followers], [1, 0])
  })
})
