import * as fc from 'fast-check'
import { z } from 'zod'
import { askModel } from '../../src/actors/turn/askModel.ts'
import { wellFormed } from '../../src/conversation/request/renderMessage.ts'
import { createRuntime, defineAgent, defineTool, type Model } from '../../src/index.ts'
import { systemClock } from '../../src/protocol/ports/clock.ts'
import type { Block } from '../../src/protocol/messages.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { done, usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const half = 'cut \ud83d off \udc00'

/** Where a value has half of a character, names of fields included. */
function halvesIn(value: unknown, path: string): string[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name.isWellFormed() ? [] : [`${path}: a name`]),
    ...halvesIn(inner, `${path}.${name}`),
  ])
}

const asking = (more: Partial<ModelRequest>): ModelRequest => ({
  system: 's',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  settings: {},
  ...more,
})

describe('halves of characters in requests', (it) => {
  it('come to a model by no way: instructions, descriptions, what is said, thought, called, returned or thrown', async () => {
    const requests: ModelRequest[] = []
    const replies: Block[][] = [
      [
        { type: 'thinking', text: half },
        { type: 'text', text: half },
        { type: 'toolCall', callId: 'c1', name: 'say', input: { text: half, [half]: [{ [half]: half }] } },
        { type: 'toolCall', callId: 'c2', name: 'fail', input: {} },
        { type: 'toolCall', callId: 'c3', name: 'give', input: {} },
        { type: 'toolCall', callId: half, name: half, input: {} },
      ],
      [{ type: 'text', text: 'done' }],
    ]
    const model: Model = {
      id: 'test:model',
      async *stream(request) {
        requests.push(request)
        const content = replies.shift()!
        yield done(content, { stopReason: content.length > 1 ? 'toolUse' : 'stop', usage: usageOf(1, 1) })
      },
    }
    const input = z.looseObject({})
    const runtime = await createRuntime()
    try {
      const tools = [
        defineTool({
          name: 'say',
          description: half,
          input: z.looseObject({ text: z.string().describe(half) }),
          run: () => half,
        }),
        defineTool({
          name: 'fail',
          description: 'd',
          input,
          run: () => {
            throw new Error(half)
          },
        }),
        defineTool({ name: 'give', description: 'd', input, run: () => ({ [half]: half }) }),
      ]
      const agent = await runtime.spawn(defineAgent({ name: 'one', instructions: half, model, tools }))
      await agent.prompt(half).result
    } finally {
      await runtime.close()
    }
    assert.is(requests.length, 2)
    assert.equal(
      requests.flatMap((request) => halvesIn(request, 'request')),
      [],
    )
    // They are shown, and not left out.
    assert.match(JSON.stringify(requests[1]), /"text":"cut \ufffd off \ufffd"/)
  })

  it('are not in a question beside conversations either', async () => {
    const model = scriptedModel(['an answer'])
    const { signal } = new AbortController()
    await askModel(model, { system: half, text: half, maxTokens: 10, timeoutMs: 1_000, clock: systemClock, signal })
    assert.equal(halvesIn(model.requests, 'request'), [])
  })

  it('leave what is sound as it is, to the same object: a signature is one of each byte', () => {
    const content: Block[] = [
      { type: 'thinking', text: 'whole 😀', signature: 'c2ln' },
      { type: 'toolCall', callId: 'c1', name: 't', input: { '😀': ['😀'] } },
    ]
    assert.is(wellFormed(content), content)
    const mixed = wellFormed([...content, { type: 'text', text: half }])
    assert.is(mixed[0], content[0])
    assert.is(mixed[1], content[1])
  })

  it('are gone from any request, and nothing else is', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.json(), (text, json) => {
        const halved = text + half
        const data = { [halved]: JSON.parse(json) as unknown, list: [halved] }
        const tool = { name: 't', description: halved, inputSchema: data }
        const call = { type: 'toolCall', callId: 'c', name: 't', input: data } as const
        const settings = { stopSequences: [halved] }
        const before = asking({
          system: halved,
          tools: [tool],
          settings,
          messages: [{ role: 'assistant', content: [call] }],
        })
        const after = wellFormed(before)
        assert.equal(halvesIn(after, 'request'), [])
        assert.equal(
          after,
          JSON.parse(JSON.stringify(before), (_, value: unknown) => sound(value)),
        )
      }),
      { seed: 8, numRuns: 60 },
    ))
})

const sound = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.toWellFormed(), inner as unknown]))
}
