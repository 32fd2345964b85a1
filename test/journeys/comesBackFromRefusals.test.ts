import type { EventOf } from '../../src/protocol/events.ts'
import type { Model, ModelRequest } from '../../src/protocol/ports/model.ts'
import { noUsage, type Block } from '../../src/protocol/messages.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { done, tool, withCode } from '../support/agentHarness.ts'
import { pngOf } from '../support/imageBytes.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

type Content = readonly Block[]

/** A model that takes requests of so many characters, and refuses longer ones as providers do. */
const windowed = (chars: number, replies: Content[], asked: number[]): Model => ({
  id: 'test:windowed',
  async *stream(request) {
    const size = JSON.stringify(request.messages).length
    asked.push(size)
    if (size > chars) yield { type: 'error', error: { kind: 'overflow', message: 'prompt is too long' } }
    else
      yield done(replies.shift() ?? [{ type: 'text', text: 'compared' }], {
        usage: { ...noUsage, input: 1, output: 1 },
      })
  },
})

const reads = (count: number): Content =>
  Array.from({ length: count }, (_, index) => ({ type: 'toolCall', callId: `c${index}`, name: 'read', input: {} }))

async function started(context: CaseContext, options: Parameters<typeof defineAgent>[0]) {
  const runtime = await createRuntime()
  context.cleanup(() => runtime.close())
  return runtime.spawn(defineAgent(options))
}

describe('a request that its newest step makes too large', (it) => {
  const read = tool('read', () => 'word '.repeat(5_000))

  it('is asked again with the outputs of the step cut, and says so', async (context) => {
    const asked: number[] = []
    const model = windowed(200_000, [reads(20)], asked)
    const agent = await started(context, { name: 'reader', model, tools: [read] })
    const ends: unknown[] = []
    agent.subscribe((event) => {
      if (event.type === 'compaction.end') ends.push([event.applied, event.reason])
    })
    const { stopReason, text } = await agent.prompt('Read and compare.').result
    assert.equal([stopReason, text], ['stop', 'compared'])
    assert.is(asked.length, 3)
    assert.equal(ends, [[true, 'there was nothing to summarise, so long outputs of the newest steps were cut']])
  })

  it('is cut shorter by each resume, until the provider takes it', async (context) => {
    const asked: number[] = []
    const model = windowed(30_000, [reads(20)], asked)
    const agent = await started(context, { name: 'reader', model, tools: [read] })
    let { stopReason, error } = await agent.prompt('Read and compare.').result
    assert.equal([stopReason, error?.code], ['error', 'MODEL_OVERFLOW'])
    ;({ stopReason, error } = await agent.resume().result)
    assert.is(stopReason, 'stop')
  })
})

describe('a message that can never fit', (it) => {
  const long = 'word '.repeat(40_000)

  it('is refused, however it is said, and the conversation goes on without it', async (context) => {
    const model = windowed(60_000, [], [])
    const agent = await started(context, { name: 'small', model, compaction: { contextWindow: 20_000 } })
    const tooLarge = withCode('PROMPT_TOO_LARGE', 'has about 57143 tokens')
    assert.throws(() => agent.prompt(long), tooLarge)
    assert.throws(() => agent.prompt([{ type: 'text', text: long }]), tooLarge)
    assert.throws(() => agent.interrupt(long), tooLarge)
    assert.throws(() => agent.steer(long), tooLarge)
    assert.throws(() => agent.followUp(long), tooLarge)
    assert.is((await agent.prompt('hello').result).stopReason, 'stop')
    assert.is(agent.conversation.trunk().length, 2)
  })

  it('is refused, too, with what people said before: they are many, and none is larger', async (context) => {
    const model = windowed(80_000, [], [])
    const agent = await started(context, { name: 'small', model, compaction: { contextWindow: 20_000 } })
    const part = 'word '.repeat(5_000)
    assert.is((await agent.prompt(part).result).stopReason, 'stop')
    assert.is((await agent.prompt(part).result).stopReason, 'stop')
    for (const say of ['prompt', 'steer', 'followUp', 'interrupt'] as const)
      assert.throws(() => agent[say](part), withCode('PROMPT_TOO_LARGE', 'tokens, with 14286 of earlier messages'))
    assert.is((await agent.prompt('shorter').result).stopReason, 'stop')
    assert.is(agent.conversation.trunk().length, 6)
  })

  it('is refused with those that wait', async (context) => {
    const model = windowed(80_000, [], [])
    const agent = await started(context, { name: 'small', model, compaction: { contextWindow: 20_000 } })
    const part = 'word '.repeat(5_000)
    const runs = [agent.prompt(part), agent.prompt(part)]
    assert.throws(() => agent.prompt(part), withCode('PROMPT_TOO_LARGE', 'of earlier messages'))
    for (const run of runs) assert.is((await run.result).stopReason, 'stop')
  })

  it('is not refused for its image, nor where no window is known', async (context) => {
    const model = windowed(10_000_000, [], [])
    const agent = await started(context, { name: 'any', model, compaction: false })
    assert.is((await agent.prompt(long).result).stopReason, 'stop')
    const small = await started(context, { name: 'small', model, compaction: { contextWindow: 2_000 } })
    const image = { type: 'image', data: pngOf('x'.repeat(100_000)), mimeType: 'image/png' } as const
    assert.is((await small.prompt([{ type: 'text', text: 'look' }, image]).result).stopReason, 'stop')
  })
})

describe('a request of which the provider refuses a part by name', (it) => {
  /** A model that refuses, in these words, every request in which it finds something. */
  const refusing = (message: string, finds: (request: ModelRequest) => boolean, first: Content = []) => {
    const requests: ModelRequest[] = []
    const model: Model = {
      id: 'test:refusing',
      async *stream(request) {
        requests.push(request)
        if (finds(request)) yield { type: 'error', error: { kind: 'badRequest', message: `HTTP 400: ${message}` } }
        else yield done(requests.length === 1 && first.length > 0 ? first : [{ type: 'text', text: 'fine' }])
      },
    }
    return { model, requests }
  }
  const holds = (type: Block['type']) => (request: ModelRequest) =>
    request.messages.some(({ content }) => content.some((block) => block.type === type))
  const image = { type: 'image', data: pngOf(), mimeType: 'image/png' } as const
  const file = { type: 'file', data: btoa('%PDF-1.7'), mimeType: 'application/pdf' } as const
  const look = tool('look', () => 'seen')
  const isClosed = ({ tools }: ModelRequest): boolean => tools.some(({ inputSchema }) => 'properties' in inputSchema)

  const parts: [string, string, (request: ModelRequest) => boolean, Content][] = [
    ['images', 'messages.0.content.1.image.source.base64: Could not process image', holds('image'), [image]],
    ['files', 'messages.0.content.1.document.source: The PDF specified was not valid.', holds('file'), [file]],
    ['the schema of a tool', 'tools.0.custom.input_schema: JSON schema is invalid', isClosed, []],
    ['the schema of a tool', "Invalid schema for function 'look': 'x' is not valid", isClosed, []],
  ]
  for (const [what, message, finds, said] of parts) {
    it(`is asked again without ${what}, and says so: ${message.slice(0, 24)}`, async (context) => {
      const { model, requests } = refusing(message, finds)
      const agent = await started(context, { name: 'seer', model, tools: [look], checkRequests: true })
      const warnings: string[] = []
      const told: EventOf<'turn.request'>[] = []
      agent.subscribe((event) => {
        if (event.type === 'model.warning') warnings.push(event.message)
        if (event.type === 'turn.request') told.push(event)
      })
      const { text } = await agent.prompt([{ type: 'text', text: 'go' }, ...(said as (typeof image)[])]).result
      assert.equal([text, requests.length], ['fine', 2])
      assert.match(warnings[0] ?? '', `The provider refused ${what}`)
      assert.equal(
        requests[1]?.tools.map(({ name }) => name),
        ['look'],
      )
      assert.is((await agent.prompt('and now?').result).text, 'fine')
      assert.equal(told.at(-1)?.request, requests.at(-1), 'listeners are told what was sent')
    })
  }

  it('is asked again without thinking that was signed elsewhere', async (context) => {
    const reply: Content = [
      { type: 'thinking', text: 'hm', signature: 'of another' },
      { type: 'text', text: 'said' },
    ]
    const { model, requests } = refusing(
      'messages.1: Invalid `signature` in `thinking` block',
      holds('thinking'),
      reply,
    )
    const agent = await started(context, { name: 'thinker', model })
    await agent.prompt('go').result
    assert.is((await agent.prompt('more').result).text, 'fine')
    assert.equal(requests.at(-1)?.messages[1]?.content, [{ type: 'text', text: 'said' }])
  })

  it('is not asked again for what it does not hold, nor more than once', async (context) => {
    for (const message of ['image: no', 'model: no such model']) {
      const { model, requests } = refusing(message, () => true)
      const agent = await started(context, { name: 'lost', model })
      assert.is((await agent.prompt('go').result).error?.code, 'MODEL_BAD_REQUEST')
      assert.is(requests.length, 1)
    }
    const { model, requests } = refusing('image: no', () => true)
    const agent = await started(context, { name: 'lost', model })
    assert.is((await agent.prompt([image]).result).error?.code, 'MODEL_BAD_REQUEST')
    assert.is(requests.length, 2)
  })
})
