import type { Model, ModelRequest } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { done, tool } from '../support/agentHarness.ts'
import { pngOf } from '../support/imageBytes.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

/** A provider that refuses requests with some data, or with a tool whose schema has some field, and says where it stands. */
function picky(id: string, data: string) {
  const requests: ModelRequest[] = []
  const refused: string[] = []
  const model: Model = {
    id,
    async *stream(request) {
      requests.push(request)
      const message = JSON.stringify(request.messages).includes(data)
        ? 'messages.0.content.1.image.source.base64: Could not process image'
        : request.tools.flatMap(({ inputSchema }, at) =>
            'properties' in inputSchema && 'bad' in (inputSchema['properties'] as object)
              ? [`tools.${at}.custom.input_schema: JSON schema is invalid`]
              : [],
          )[0]
      if (message !== undefined) refused.push(message)
      if (message === undefined) yield done([{ type: 'text', text: 'fine' }])
      else yield { type: 'error', error: { kind: 'badRequest', message: `HTTP 400: ${message}` } }
    },
  }
  return { model, requests, refused }
}

const image = (text: string) => ({ type: 'image', data: pngOf(text), mimeType: 'image/png' }) as const
const textsIn = ({ messages }: ModelRequest): string => JSON.stringify(messages)
const prompt = (text: string, ...images: ReturnType<typeof image>[]) => [{ type: 'text', text } as const, ...images]

async function started(context: CaseContext, options: Parameters<typeof defineAgent>[0], store = memoryStore()) {
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  return { store, runtime, agent: await runtime.spawn(defineAgent(options), { id: 'a' }) }
}

describe('what a provider refused by name', (it) => {
  const bad = image('no picture')
  const model = () => picky('test:picky', bad.data)

  it('is left out of each later request from the start, and no other part is', async (context) => {
    const { model: asked, requests, refused } = model()
    const { agent } = await started(context, { name: 'seer', model: asked })
    assert.is((await agent.prompt(prompt('first', bad)).result).text, 'fine')
    assert.is((await agent.prompt('second').result).text, 'fine')
    assert.is((await agent.prompt(prompt('third', image('sound'))).result).text, 'fine')
    assert.is(refused.length, 1)
    assert.is(requests.length, 4)
    assert.match(textsIn(requests.at(-1)!), /left out, as the provider refused it/)
    assert.ok(textsIn(requests.at(-1)!).includes(image('sound').data), 'a later image is shown')
  })

  it('is refused once more where it comes again, which is all that it costs', async (context) => {
    const { model: asked, requests, refused } = model()
    const { agent } = await started(context, { name: 'seer', model: asked })
    for (const text of ['one', 'two', 'three']) {
      assert.is((await agent.prompt(prompt(text, bad)).result).text, 'fine')
      assert.is((await agent.prompt('and now?').result).text, 'fine')
    }
    assert.equal([refused.length, requests.length], [3, 9])
  })

  it('is known after a restart, and in the log', async (context) => {
    const { model: asked, refused } = model()
    const { store, runtime, agent } = await started(context, { name: 'seer', model: asked })
    const resets: unknown[] = []
    agent.subscribe((event) => {
      if (event.type === 'reply.reset') resets.push(event.without)
    })
    await agent.prompt(prompt('first', bad)).result
    assert.equal(resets, [{ part: 'images', model: 'test:picky' }])
    await agent.durable()
    const records: LogRecord[] = []
    for await (const record of store.read('a')) records.push(record)
    assert.equal(rebuildConversation(records).annotations?.refused, [
      { part: 'images', model: 'test:picky', turnIndex: 0 },
    ])
    await agent.close()
    const back = await runtime.resume('a', defineAgent({ name: 'seer', model: asked }))
    assert.is((await back.prompt('second').result).text, 'fine')
    assert.is(refused.length, 1)
  })

  it('is shown to another model', async (context) => {
    const other = picky('test:other', 'nothing')
    const { agent } = await started(context, { name: 'seer', model: model().model, models: { other: other.model } })
    await agent.prompt(prompt('first', bad)).result
    agent.use({ model: 'other' })
    assert.is((await agent.prompt('second').result).text, 'fine')
    assert.ok(textsIn(other.requests[0]!).includes(bad.data))
  })

  it('may be several parts of one request, each said once', async (context) => {
    const schema = (field: string) => ({ jsonSchema: { type: 'object', properties: { [field]: { type: 'string' } } } })
    const look = (name: string, field: string) => tool(name, () => 'seen', { input: schema(field) as never })
    const { model: asked, requests, refused } = model()
    const options = { name: 'seer', tools: [look('one', 'bad'), look('two', 'good'), look('three', 'bad')] }
    const { agent } = await started(context, { ...options, model: asked })
    assert.is((await agent.prompt(prompt('first', bad)).result).text, 'fine')
    assert.is(refused.length, 3)
    assert.is((await agent.prompt('second').result).text, 'fine')
    assert.is(refused.length, 3)
    assert.equal(
      requests.at(-1)!.tools.map(({ inputSchema }) => Object.keys(inputSchema).includes('properties')),
      [false, true, false],
    )
  })

  it('is no reason not to try again: a run that fails all the same says why, and is not asked without end', async (context) => {
    const requests: ModelRequest[] = []
    const never: Model = {
      id: 'test:never',
      async *stream(request) {
        requests.push(request)
        yield {
          type: 'error',
          error: { kind: 'badRequest', message: 'HTTP 400: image, document, thinking, web_search' },
        }
      },
    }
    const { agent } = await started(context, { name: 'lost', model: never })
    const { stopReason, error } = await agent.prompt(prompt('first', bad)).result
    assert.equal([stopReason, error?.code, requests.length], ['error', 'MODEL_BAD_REQUEST', 2])
  })
})
