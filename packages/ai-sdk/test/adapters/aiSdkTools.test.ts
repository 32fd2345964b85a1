import { anthropic } from '@ai-sdk/anthropic'
import { dynamicTool, jsonSchema, tool } from 'ai'
import { z } from 'zod'
import { aiSdkTools, type AiSdkToolSet } from '../../../../src/aiSdk.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import type { ToolEntries } from '../../../../src/actors/define/toolEntries.ts'
import { toCallOptions } from '../../src/adapters/toCallOptions.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { imageBytes, pngOf } from '../../../../test/support/imageBytes.ts'
import { calls, startAgent, withCode } from '../../../../test/support/agentHarness.ts'
import { ask } from '../../../../test/support/wireServer/useWire.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

/** An agent that makes these calls in one turn; the results, each as its text or blocks, and errors marked. */
async function resultsOf(
  context: CaseContext,
  tools: AiSdkToolSet | ToolEntries,
  wanted: readonly Wanted[],
): Promise<unknown[]> {
  const reply = { toolCalls: wanted }
  const { agent, script } = await startAgent(context, { tools: tools as never, replies: [reply, 'done'] })
  await agent.prompt('go').result
  return script.requests.at(-1)!.messages.flatMap((message): unknown[] => {
    if (message.role !== 'toolResult') return []
    const [first, ...more] = message.content
    const said = first?.type === 'text' && more.length === 0 ? first.text : message.content
    return message.isError ? [{ error: said }] : [said]
  })
}

interface Wanted {
  readonly callId: string
  readonly name: string
  readonly input: unknown
}
const call = (callId: string, name: string, input: unknown): Wanted => ({ callId, name, input })
const weather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string().trim() }),
  execute: ({ city }) => ({ city, sky: 'fair' }),
})

describe('tools of the AI SDK', (it) => {
  it('are taken as they are, by name, alone and beside others', async (context) => {
    const { definition } = { definition: defineAgent({ name: 'a', model: scriptedModel([]), tools: { weather } }) }
    assert.equal(definition.toolSpecs, [
      {
        name: 'weather',
        description: 'The weather in a city.',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ])
    const wanted = [call('c1', 'weather', { city: ' Ulm ' }), call('c2', 'twice', { n: 2 })]
    const twice = tool({ inputSchema: z.object({ n: z.number() }), execute: async ({ n }) => `${2 * n}` })
    assert.equal(await resultsOf(context, [{ weather }, { twice }], wanted), ['{"city":"Ulm","sky":"fair"}', '4'])
  })

  it('check their arguments by their own schema, whatever its kind', async (context) => {
    const even = jsonSchema<{ n: number }>(
      { type: 'object', properties: { n: { type: 'number' } } },
      {
        validate: async (value) => {
          const { n } = value as { n: number }
          return n % 2 === 0
            ? { success: true, value: { n: n * 10 } }
            : { success: false, error: new Error(`${n} is odd.`) }
        },
      },
    )
    const set = {
      slow: tool({ inputSchema: even, execute: ({ n }) => `slow ${n}` }),
      bare: tool({
        inputSchema: jsonSchema<{ a: string }>({ type: 'object', properties: { a: { type: 'string' } } }),
        execute: ({ a }) => `bare ${a}`,
      }),
      odd: tool({ inputSchema: jsonSchema({ type: 'object', not: { required: ['x'] } }), execute: () => 'odd' }),
      any: dynamicTool({ inputSchema: jsonSchema({}), execute: async (input) => JSON.stringify(input) }),
      refined: tool({
        inputSchema: z.object({ id: z.string().refine(async (id) => id.startsWith('o'), 'no such id') }),
        execute: ({ id }) => `refined ${id}`,
      }),
    }
    const wanted = [
      call('c1', 'slow', { n: 2 }),
      call('c2', 'slow', { n: 3 }),
      call('c3', 'bare', { a: 1 }),
      call('c4', 'odd', { y: 1 }),
      call('c5', 'any', { z: [1] }),
      call('c6', 'refined', { id: 'x' }),
      call('c7', 'refined', { id: 'o1' }),
      call('c8', 'any', '{"z"'),
    ]
    const results = await resultsOf(context, set, wanted)
    assert.is(results[0], 'slow 20')
    assert.equal(results[1], { error: 'Invalid arguments: 3 is odd. Correct them and call again.' })
    assert.match(JSON.stringify(results[2]), /error.*a: .*string/)
    assert.equal(results.slice(3, 5), ['odd', '{"z":[1]}'])
    assert.equal(results[5], { error: 'Invalid arguments: id: no such id. Correct them and call again.' })
    assert.is(results[6], 'refined o1')
    assert.match(JSON.stringify(results[7]), /not valid JSON/)
  })

  it('show models what toModelOutput makes of a result', async (context) => {
    const giving = (output: unknown) =>
      tool({ inputSchema: z.object({}), execute: () => 'raw', toModelOutput: () => output as never })
    const data = Buffer.from('%PDF-').toString('base64')
    const set = {
      text: giving({ type: 'text', value: 'said' }),
      json: giving({ type: 'json', value: [{ type: 'text', text: 'data' }] }),
      files: giving({
        type: 'content',
        value: [
          { type: 'text', text: 'see' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: imageBytes.png(1, 1) } },
          { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', data: { type: 'data', data } },
          { type: 'file-data', mediaType: 'audio/wav', data },
          { type: 'image-url', url: 'https://a.example/b.png' },
          { type: 'file-url', url: 'https://a.example/b.pdf' },
          { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'inline' } },
        ],
      }),
      wrong: giving({ type: 'error-text', value: 'no luck' }),
      denied: giving({ type: 'execution-denied' }),
      unknown: giving({ type: 'from the future' }),
    }
    const results = await resultsOf(
      context,
      set,
      Object.keys(set).map((name, index) => call(`c${index}`, name, {})),
    )
    assert.equal(results, [
      'said',
      '[{"type":"text","text":"data"}]',
      [
        { type: 'text', text: 'see' },
        { type: 'image', data: pngOf(), mimeType: 'image/png' },
        { type: 'file', data, mimeType: 'application/pdf', name: 'a.pdf' },
        { type: 'file', data, mimeType: 'audio/wav' },
        { type: 'image', url: 'https://a.example/b.png' },
        { type: 'text', text: '[a part of type file-url, https://a.example/b.pdf, which cannot be shown]' },
        { type: 'text', text: 'inline' },
      ],
      { error: 'no luck' },
      { error: 'It was denied.' },
      { error: 'Its toModelOutput gave an output of type "from the future", which is none of the AI SDK.' },
    ])
  })

  it('may return what looks like blocks of ours, which is JSON there', async (context) => {
    const set = { list: tool({ inputSchema: z.object({}), execute: () => [{ type: 'text', text: 'a' }] }) }
    assert.equal(await resultsOf(context, set, [call('c1', 'list', {})]), ['[{"type":"text","text":"a"}]'])
  })

  it('tell their progress by what they yield, and return the last of it', async (context) => {
    const count = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'one'
        yield 'two'
      },
    })
    const { agent, script, ofType } = await startAgent(context, {
      tools: { count } as never,
      replies: [calls('c', 'count'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('tool.progress').map(({ progress }) => progress),
      ['one', 'two'],
    )
    assert.match(JSON.stringify(script.requests[1]!.messages[2]), '"two"')
  })

  it('do not hold the process though they yield without end and never wait', async (context) => {
    let given = 0
    const flood = tool({
      inputSchema: z.object({}),
      async *execute() {
        // Else it would hold the test for ever.
        for (; given < 3_000_000; given += 1) yield given
      },
    })
    const { agent } = await startAgent(context, { tools: { flood } as never, replies: [calls('c', 'flood'), 'done'] })
    const run = agent.prompt('go')
    setTimeout(() => agent.abort(), 5)
    assert.is((await run.result).stopReason, 'aborted')
    assert.ok(given < 3_000_000)
  })

  it('get the id and the signal of their call, and the deps of the run as context', async ({ cleanup }) => {
    const seen: unknown[] = []
    const contextSchema = z.object({ tenant: z.string() })
    const inputSchema = z.object({})
    const who = tool({
      inputSchema,
      contextSchema,
      execute: (_, { toolCallId, abortSignal, context, messages }) => {
        seen.push([toolCallId, abortSignal instanceof AbortSignal, context, messages])
        return 'ok'
      },
    })
    const careful = tool({
      inputSchema,
      contextSchema,
      needsApproval: (_, { context }) => context.tenant === 'careful',
      execute: () => seen.push('careful'),
    })
    const { agent, script, until } = await startAgent(
      { cleanup },
      {
        tools: [{ who, careful }] as never,
        replies: [calls('c', 'who', 'careful'), 'done', calls('d', 'who'), 'done', calls('e', 'careful'), 'done'],
      },
    )
    await agent.prompt('go', { deps: { tenant: 'acme', more: 1 } as never }).result
    assert.equal(seen.splice(0), [['c0', true, { tenant: 'acme' }, []], 'careful'])
    await agent.prompt('again', { deps: {} as never }).result
    assert.match(JSON.stringify(script.requests.at(-1)!.messages.at(-1)), /not the context that the tool needs/)
    const run = agent.prompt('and again', { deps: { tenant: 'careful' } as never })
    const asked = await until((event) => event.type === 'approval.requested')
    agent.decide((asked as { key: string }).key, 'deny')
    await run.result
    assert.equal(seen, [])
  })

  it('have the effects and approvals that they are given, and cannot be undone otherwise', () => {
    const names = (tools: readonly { readonly name: string; readonly effects: string }[]) =>
      tools.map(({ name, effects }) => [name, effects])
    assert.equal(names(aiSdkTools({ weather })), [['weather', 'irreversible']])
    const [made] = aiSdkTools({ weather }, { effects: { weather: 'none' }, needsApproval: { weather: true } })
    assert.is(made!.effects, 'none')
    assert.is(made!.needsApproval({}, {} as never), true)
    const misnamed = { effects: { wether: 'none' } } as object
    assert.throws(() => aiSdkTools({ weather }, misnamed), withCode('INVALID_DEFINITION', 'effects names "wether"'))
  })

  it('join the others once their schema is there, and are told as trouble if it never is', async (context) => {
    const { promise, resolve } = Promise.withResolvers<{ type: 'object' }>()
    const set = {
      late: tool({ inputSchema: jsonSchema(promise), execute: () => 'late' }),
      never: tool({ inputSchema: jsonSchema(Promise.reject(new Error('no network'))), execute: () => 'never' }),
    }
    const { agent, script, records } = await startAgent(context, {
      tools: { ...set, weather } as never,
      reframes: true,
      replies: [calls('c', 'late'), 'done'],
    })
    resolve({ type: 'object' })
    await agent.prompt('go').result
    assert.equal(
      script.requests[0]!.tools.map(({ name }) => name),
      ['weather', 'late'],
    )
    assert.match(JSON.stringify(script.requests[1]!.messages.at(-1)), '"late"')
    assert.match(JSON.stringify(await records()), /"trouble":.*no network/)
  })

  for (const [what, set, said] of [
    ['without execute', { a: tool({ inputSchema: z.object({}), outputSchema: z.string() }) }, 'no "execute"'],
    ['of a name that providers refuse', { 'a b': weather }, 'Tool "a b": use 1 to 64 letters'],
    ['whose input is no object', { a: { ...weather, inputSchema: z.string() } }, 'must be an object, it is "string"'],
    ['whose input is a union', { a: { ...weather, inputSchema: z.union([z.object({}), z.string()]) } }, 'is a union'],
    ['whose schema is none', { a: { ...weather, inputSchema: 5 } }, 'its inputSchema is not a schema'],
    [
      'whose schema throws',
      {
        a: {
          ...weather,
          inputSchema: () => {
            throw new Error('oh')
          },
        },
      },
      'Tool "a": oh',
    ],
    ['of a library without JSON', { a: { ...weather, inputSchema: { '~standard': { vendor: 'x' } } } }, 'schema of x'],
  ] as const) {
    it(`are refused with words: one ${what}`, () => {
      assert.throws(
        () => defineAgent({ name: 'a', model: scriptedModel([]), tools: [set as AiSdkToolSet] }),
        withCode('INVALID_DEFINITION', said),
      )
    })
  }
})

describe("a provider's own tools", (it) => {
  const search = anthropic.tools.webSearch_20250305({ maxUses: 2 })
  const bash = anthropic.tools.bash_20250124({ execute: async ({ command }) => `ran ${command}` })

  it('are sent by their id and settings; those that we carry out are called as any other', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: { web_search: search, bash } as never,
      replies: [calls('c', ['bash', { command: 'ls' }]), calls('d', 'web_search'), 'done'],
    })
    await agent.prompt('go').result
    assert.match(JSON.stringify(script.requests[1]!.messages.at(-1)), 'ran ls')
    assert.match(JSON.stringify(script.requests[2]!.messages.at(-1)), /The provider of the model carries out/)
    const { tools } = toCallOptions(
      { ...ask('x'), tools: script.requests[0]!.tools },
      {
        provider: 'anthropic',
        cache: false,
        toolImages: 'result',
      },
    )
    assert.equal(tools, [
      { type: 'provider', name: 'web_search', id: 'anthropic.web_search_20250305', args: { maxUses: 2 } },
      { type: 'provider', name: 'bash', id: 'anthropic.bash_20250124', args: {} },
    ])
  })

  it('are taken whatever their own schema is, as that is not sent, and their calls are checked by it', async (context) => {
    const memory = anthropic.tools.memory_20250818({ execute: async (input) => `did ${input.command}` })
    const results = await resultsOf(context, { memory }, [
      call('a', 'memory', { command: 'view', path: '/memories' }),
      call('b', 'memory', { command: 'fly' }),
    ])
    assert.is(results[0], 'did view')
    assert.match(JSON.stringify(results[1]), /^\{"error":/)
  })

  it('and what a tool says to providers goes along', () => {
    const strict = tool({
      inputSchema: z.object({ a: z.string() }),
      inputExamples: [{ input: { a: 'x' } }],
      strict: true,
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
      execute: () => '',
    })
    const { toolSpecs } = defineAgent({ name: 'a', model: scriptedModel([]), tools: { strict } })
    const { tools } = toCallOptions(
      { ...ask('x'), tools: toolSpecs },
      {
        provider: 'anthropic',
        cache: false,
        toolImages: 'result',
      },
    )
    const { name, description, inputSchema, ...parts } = tools![0] as { [field: string]: unknown }
    assert.equal([name, description, typeof inputSchema], ['strict', 'strict', 'object'])
    assert.equal(parts, {
      type: 'function',
      strict: true,
      inputExamples: [{ input: { a: 'x' } }],
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    })
  })
})
