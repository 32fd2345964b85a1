import type { Model } from '../../src/protocol/model.ts'
import { noUsage, type Block } from '../../src/protocol/messages.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { defineAgent } from '../../src/actors/defineAgent.ts'
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

  it('is not refused for its image, nor where no window is known', async (context) => {
    const model = windowed(10_000_000, [], [])
    const agent = await started(context, { name: 'any', model, compaction: false })
    assert.is((await agent.prompt(long).result).stopReason, 'stop')
    const small = await started(context, { name: 'small', model, compaction: { contextWindow: 2_000 } })
    const image = { type: 'image', data: pngOf('x'.repeat(100_000)), mimeType: 'image/png' } as const
    assert.is((await small.prompt([{ type: 'text', text: 'look' }, image]).result).stopReason, 'stop')
  })
})
