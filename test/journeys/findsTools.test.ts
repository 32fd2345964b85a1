import { jsonSchema } from 'ai'
import { z } from 'zod'
import { defineAgent, deferred, defineTool } from '../../src/index.ts'
import { digestOf, foldLine } from '../../src/conversation/brakes/fold/foldLine.ts'
import { evidenceOf } from '../../src/conversation/brakes/evidence.ts'
import { heuristicSummary } from '../../src/conversation/brakes/compaction/heuristicSummary.ts'
import { printOf } from '../../src/conversation/brakes/stall/stepPrint.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { factLines, factsOf } from '../../src/conversation/tree/facts.ts'
import { piecesOf } from '../../src/conversation/tree/stepText.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf, startAgent, tool, withCode, type Harness } from '../support/agentHarness.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe } from '../support/suite.ts'

const postcard = defineTool({
  name: 'send_postcard',
  description: 'Sends a postcard to a friend.',
  input: z.object({ to: z.string(), style: z.enum(['plain', 'gold']).optional() }),
  run: ({ to }, { changed }) => {
    changed(`post/${to}`)
    return `sent to ${to}`
  },
})
const weather = defineTool({
  name: 'get_weather',
  description: 'The weather in a city.',
  effects: 'none',
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Fair in ${city}.`,
})

const find = (id: string, query: string): ScriptedReply => calls(id, ['find_tools', { query }])
const through = (id: string, ...inner: readonly (readonly [string, unknown])[]): ScriptedReply =>
  calls(id, ...inner.map(([name, input]) => ['call_tool', { name, input }] as const))

const names = ({ script }: Harness, request: number): string[] =>
  script.requests[request]!.tools.map(({ name }) => name)

/** Calls of the conversation as requests show them. */
const called = ({ script }: Harness): unknown[] =>
  (script.requests.at(-1)?.messages ?? []).flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'toolCall' ? [[block.name, block.input]] : [])),
  )

/** The records and messages that calls leave, but for times, ids and the texts of results. */
const traces = async ({ records, agent }: Harness): Promise<unknown> => [
  agent.conversation.trunk().map(({ message }) => message.role),
  (await records()).flatMap((record) => {
    if (record.type === 'tool.start' || record.type === 'approval.requested')
      return [[record.type, record.name, record.input, record.irreversible, record.edited]]
    if (record.type !== 'tool.end') return []
    const { toolName, changed, isError } = record.message
    return [[record.type, record.name, toolName, changed, isError, record.hook]]
  }),
]

/** Lines of folds, evidence, facts and prints of the steps, and their text for recalls. */
function notes({ agent }: Harness): readonly unknown[] {
  const conversation = agent.conversation as Conversation
  const nodes = conversation.path
  // The last call fails, with the declaration where no request has it.
  const ran = nodes.slice(0, -2)
  return [
    conversation.steps().map((step) => foldLine(step)),
    digestOf(conversation.steps()),
    evidenceOf(nodes),
    factLines(factsOf(ran)),
    printOf(nodes[1]!, () => nodes.slice(2, 5))?.calls,
    [...piecesOf(nodes.slice(1, 4))],
    heuristicSummary(ran, { maxTokens: 2_000, counter: estimateTokens }),
  ]
}

describe('deferred tools', (it) => {
  it('are found by words and called, and no request lists them', async (context) => {
    const harness = await startAgent(context, {
      tools: [tool('own', () => 'mine'), deferred([postcard, weather])],
      replies: [
        find('a', 'postcards to friends'),
        through('b', ['send_postcard', { to: 'Ada' }]),
        find('c', 'weather'),
        through('d', ['get_weather', { city: 'Rome' }]),
        'done',
      ],
    })
    const { agent, script, ofType } = harness
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.equal(names(harness, 0), ['own', 'find_tools', 'call_tool'])
    for (const request of script.requests) {
      assert.is(request.tools, script.requests[0]!.tools)
      assert.is(request.system, script.requests[0]!.system)
    }
    const results = resultsOf(script.requests.at(-1))
    assert.is(
      results[0],
      'Call one with call_tool: {"name": …, "input": {…}}.\n\n' +
        '/** Sends a postcard to a friend. */\nsend_postcard(input: { to: string; style?: "plain" | "gold" })',
    )
    assert.equal([results[1], results[3]], ['sent to Ada', 'Fair in Rome.'])
    assert.equal(called(harness), [
      ['find_tools', { query: 'postcards to friends' }],
      ['call_tool', { name: 'send_postcard', input: { to: 'Ada' } }],
      ['find_tools', { query: 'weather' }],
      ['call_tool', { name: 'get_weather', input: { city: 'Rome' } }],
    ])
    assert.equal(
      ofType('tool.start').map(({ name, input }) => [name, input]),
      [
        ['find_tools', { query: 'postcards to friends' }],
        ['send_postcard', { to: 'Ada' }],
        ['find_tools', { query: 'weather' }],
        ['get_weather', { city: 'Rome' }],
      ],
    )
  })

  it('leave the same records, hooks and evidence as the same tools in requests', async (context) => {
    const run = async (isDeferred: boolean): Promise<readonly unknown[]> => {
      const heard: unknown[] = []
      const asking = defineTool({
        name: 'erase',
        description: 'Erases a file.',
        input: z.object({ path: z.string(), deep: z.boolean().default(false) }),
        needsApproval: true,
        run: ({ path }, { changed }) => {
          changed(path)
          return `erased ${path}`
        },
      })
      const tools = [postcard, asking]
      const inner = [
        ['send_postcard', { to: 'Ada' }],
        ['erase', { path: 'a.txt' }],
        ['send_postcard', { to: 7 }],
      ] as const
      const harness = await startAgent(context, {
        tools: isDeferred ? [deferred(tools)] : tools,
        beforeTool: ({ name, input, effects, type }) => {
          heard.push(['before', name, input, effects, type])
          return name === 'send_postcard' && (input as { to: string }).to === 'Ada'
            ? { input: { to: 'Bob' } }
            : undefined
        },
        afterTool: ({ name, input }, { isError }) => {
          heard.push(['after', name, input, isError])
          return undefined
        },
        replies: [isDeferred ? through('a', ...inner) : calls('a', ...inner), 'done'],
      })
      harness.agent.subscribe((event) => {
        if (event.type === 'approval.requested') harness.agent.decide(event.key, 'approve')
      })
      await harness.agent.prompt('go').result
      const results = resultsOf(harness.script.requests.at(-1)).map((text) => text.split('\n\n').at(-1))
      return [heard, results, await traces(harness), notes(harness)]
    }
    assert.equal(await run(true), await run(false))
  })

  it('are recorded by their own names, and the message says how they were called', async (context) => {
    const { agent, records } = await startAgent(context, {
      tools: [deferred([postcard])],
      replies: [through('a', ['send_postcard', { to: 'Ada' }]), 'done'],
    })
    await agent.prompt('go').result
    const log = await records()
    const reply = log.find((record) => record.type === 'reply.end')!
    assert.equal(reply.message.content, [
      { type: 'toolCall', callId: 'a0', name: 'send_postcard', input: { to: 'Ada' }, via: 'call_tool' },
    ])
    const end = log.find((record) => record.type === 'tool.end')!
    assert.equal([end.name, end.message.toolName, end.message.via], ['send_postcard', 'send_postcard', 'call_tool'])
    assert.equal(end.message.changed, ['post/Ada'])
  })

  it('answer a call that does not fit with the declaration, and one of no tool with the nearest', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      tools: [tool('own', () => 'mine'), deferred([postcard, weather])],
      replies: [
        through(
          'a',
          ['send_postcard', { too: 'Ada' }],
          ['get_wether', {}],
          ['postcard_sender', {}],
          ['own', {}],
          ['call_tool', { name: 'get_weather', input: {} }],
          ['__proto__', {}],
        ),
        calls(
          'b',
          ['call_tool', 'no json'],
          ['call_tool', { name: 'get_weather', city: 'Rome' }],
          ['call_tool', { name: 'get_weather', input: { city: 'Rome' }, more: 1 }],
          ['call_tool', { name: 'get_weather', input: '{"city":"Rome"}' }],
          ['call_tool', { name: 'get_weather', input: [] }],
          ['get_weather', { city: 'Oslo' }],
          ['get_wether', {}],
        ),
        'done',
      ],
    })
    await agent.prompt('go').result
    const results = resultsOf(script.requests.at(-1))
    assert.match(
      results[0]!,
      /^(Invalid arguments: to: .*)\n\n\/\*\* Sends a postcard to a friend\. \*\/\nsend_postcard\(.*\n\n\1$/s,
    )
    assert.is(results[1], 'There is no tool "get_wether". The nearest: get_weather. Find tools with find_tools.')
    assert.match(results[2]!, /^There is no tool "postcard_sender"\. The nearest: send_postcard\. /)
    assert.is(results[3], '"own" is listed among your tools: call it itself, not by call_tool.')
    assert.is(results[4], '"call_tool" is listed among your tools: call it itself, not by call_tool.')
    assert.match(results[5]!, /^There is no tool "__proto__"\./)
    assert.match(results[6]!, /not valid JSON/)
    assert.match(results[7]!, /^Invalid arguments: /)
    assert.match(results[8]!, /^Invalid arguments: /)
    assert.is(results[9], 'Fair in Rome.')
    assert.match(results[10]!, /^Invalid arguments: .*not a list.*get_weather\(input: \{ city: string \}\)\n\nInvalid/s)
    assert.is(results[11], 'Fair in Oslo.')
    assert.match(results[12]!, /^There is no tool "get_wether"\. Your tools: own, find_tools, call_tool\./)
    assert.is(ofType('tool.start').filter(({ name }) => name === 'call_tool').length, 8)
  })

  it('are not called with arguments that a log cannot hold, whatever text they come as', async (context) => {
    const deep = `{"city":${'['.repeat(5_000)}${']'.repeat(5_000)}}`
    const { agent, script } = await startAgent(context, {
      tools: [deferred([weather])],
      replies: [through('a', ['get_weather', deep], ['get_weather', '{"city":1e999}']), 'done'],
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    for (const text of resultsOf(script.requests.at(-1))) assert.match(text, /not valid JSON/)
  })

  it('may be tools of the AI SDK, in any of several groups, which the model is told of', async (context) => {
    const later = { inputSchema: jsonSchema(Promise.resolve({ type: 'object' as const })), execute: () => 'later' }
    const sky = { description: 'The sky.', inputSchema: z.object({ at: z.string() }), execute: () => 'blue' }
    const harness = await startAgent(context, {
      tools: [deferred([{ sky, later }]), deferred([postcard], { about: 'mail' })],
      replies: ['1', through('a', ['sky', { at: 'noon' }], ['later', {}]), find('b', 'sky'), 'done'],
    })
    await harness.agent.prompt('1').result
    await harness.agent.prompt('2').result
    const [blue, late, found] = resultsOf(harness.script.requests.at(-1))
    assert.equal([blue, late], ['blue', 'later'])
    assert.match(found!, /\/\*\* The sky\. \*\/\nsky\(input: \{ at: string \}\)/)
    assert.match(harness.script.requests[0]!.tools[0]!.description, /There are tools for: sky, ai-sdk_later; mail\./)
  })

  it('stream their arguments under their own names', async (context) => {
    const text = JSON.stringify({ name: 'send_postcard', input: { to: 'A "}" da', style: 'gold' } })
    const { agent, ofType } = await startAgent(context, {
      tools: [deferred([postcard])],
      replies: [
        {
          parts: (async function* () {
            yield { type: 'toolCall.delta', callId: 'x', name: 'call_tool', text: '' } as const
            for (const sign of text) yield { type: 'toolCall.delta', callId: 'x', text: sign } as const
            yield {
              type: 'done',
              reply: {
                content: [{ type: 'toolCall', callId: 'x', name: 'call_tool', input: JSON.parse(text) as unknown }],
                stopReason: 'toolUse',
                usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
              },
            } as const
          })(),
        },
        'done',
      ],
    })
    await agent.prompt('go').result
    const parts = ofType('toolCall.delta')
    assert.equal([...new Set(parts.map(({ name }) => name))], ['send_postcard'])
    assert.is(parts.map((part) => part.text).join(''), JSON.stringify({ to: 'A "}" da', style: 'gold' }))
  })

  it('refuse groups that are none, and names that are taken', async () => {
    const model = scriptedModel([])
    const define = (...tools: Parameters<typeof defineAgent>[0]['tools'] & readonly unknown[]) =>
      defineAgent({ name: 'tester', model, tools })
    const invalid = (...texts: string[]) => withCode('INVALID_DEFINITION', ...texts)
    assert.throws(() => deferred([]), invalid('deferred: the group has no tools: leave it out.'))
    assert.throws(() => deferred('all' as never), invalid('deferred: give a list of tools, or of agents.'))
    assert.throws(() => deferred([deferred([weather])] as never), invalid('a group cannot be in a group'))
    assert.throws(() => deferred([weather], { abut: 'x' } as never), invalid('"abut" is not known'))
    assert.throws(() => define(deferred([weather]), deferred([weather])), invalid('two tools are named "get_weather"'))
    assert.throws(() => define(weather, deferred([weather])), invalid('two tools are named "get_weather"'))
    for (const name of ['find_tools', 'call_tool']) {
      assert.throws(
        () =>
          define(
            tool(name, () => ''),
            deferred([weather]),
          ),
        invalid(`two tools are named "${name}"`),
      )
      assert.throws(() => define(deferred([tool(name, () => '')])), invalid(`two tools are named "${name}"`))
      define(tool(name, () => ''))
    }
    assert.throws(() => define(deferred([7 as never])), invalid('entry 0'))
    const search = { type: 'provider', isProviderExecuted: true, id: 'a.search', args: {}, inputSchema: z.object({}) }
    assert.throws(
      () => define(deferred([{ search: search as never }])),
      invalid('"search" is carried out by the provider'),
    )
    const settings = { toolChoice: { tool: 'get_weather' } }
    assert.throws(
      () => defineAgent({ name: 'tester', model, tools: [deferred([weather])], settings }),
      invalid('settings: toolChoice: "get_weather" is deferred, so no request lists it.'),
    )
    const source = scriptedSource('srv', [weather])
    assert.throws(() => define(source, deferred([source])), invalid('two sources are named "srv"'))
  })

  it('are listed in a turn that names them, and cannot be called in one that leaves them out', async (context) => {
    const harness = await startAgent(context, {
      tools: [tool('own', () => 'mine'), deferred([postcard, weather])],
      reframes: true,
      beforeTurn: ({ turn }) => ({
        tools: [['own'], ['own', 'get_weather'], ['find_tools', 'call_tool']][turn - 1] ?? ['own'],
      }),
      replies: [
        through('a', ['get_weather', { city: 'Rome' }]),
        calls('b', ['get_weather', { city: 'Rome' }], ['send_postcard', { to: 'x' }]),
        through('c', ['get_weather', { city: 'Rome' }]),
        'done',
      ],
    })
    await harness.agent.prompt('go').result
    assert.equal(names(harness, 0), ['own'])
    assert.equal(names(harness, 1), ['own', 'get_weather'])
    assert.equal(names(harness, 2), ['find_tools', 'call_tool'])
    const results = resultsOf(harness.script.requests.at(-1))
    assert.match(results[0]!, /^Not run: "get_weather" is not available in this turn, which has own\./)
    assert.is(results[1], 'Fair in Rome.')
    assert.match(results[2]!, /^Not run: "send_postcard" is not available/)
    assert.is(results[3], 'Fair in Rome.')
  })

  it('may be two thousand: a find is quick, its answer is bounded, and the frame does not grow', async (context) => {
    const many = Array.from({ length: 2_000 }, (_, n) =>
      tool(`tool_${n}`, () => `ran ${n}`, {
        description: n === 1_234 ? 'Paints a fence.' : `Does number ${n} of the many things.`,
      }),
    )
    const { agent, script } = await startAgent(context, {
      tools: [deferred(many, { about: 'many things' })],
      replies: [
        find('a', 'fence painting'),
        find('b', 'things'),
        find('c', 'zebra'),
        find('d', ''),
        through('e', ['tool_1234', {}], ['tool_9999', {}]),
        'done',
      ],
    })
    await agent.prompt('go').result
    const [fence, things, none, empty, ran, unknown] = resultsOf(script.requests.at(-1))
    assert.match(fence!, /^Call one with call_tool.*\n\n\/\*\* Paints a fence\. \*\/\ntool_1234\(input\?: /s)
    assert.is(things!.match(/^tool_\d+\(/gm)?.length, 10)
    assert.match(things!, /Also: (tool_\d+, ){39}tool_\d+, and 1949 more\. Search/)
    assert.match(none!, /^No tool has to do with "zebra"\. There are 2000: 2000 \(tool_0, .*, …\)\. Try other words\.$/)
    assert.match(empty!, /^No tool has to do with ""/)
    assert.is(ran, 'ran 1234')
    assert.match(unknown!, /^There is no tool "tool_9999"\. The nearest: tool_\d+, tool_\d+, tool_\d+\. /)
    assert.ok(JSON.stringify(script.requests[0]!.tools).length < 1_500)
  })
})
