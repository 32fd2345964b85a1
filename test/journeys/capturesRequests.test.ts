import { z } from 'zod'
import { capturedRequests, type CapturedRequest } from '../../src/conversation/request/captureRequest.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import type { JsonSchema, ModelErrorKind, ModelRequest } from '../../src/protocol/ports/model.ts'
import type { LogRecord, RecordOf } from '../../src/protocol/records.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { RequestCaptures } from '../../src/runtime/agents/requestCaptures.ts'
import { startAgent, withCode } from '../support/agentHarness.ts'
import { nested } from '../support/nested.ts'
import { assert, describe } from '../support/suite.ts'
import { replyOf, useWire, wireFamilies } from '../support/wireServer/useWire.ts'
import type { WireReply } from '../support/wireServer/wireFamily.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  run: ({ at }) => `seen ${at}`,
})
const failure = (kind: ModelErrorKind) => ({ error: { kind, message: `it is ${kind}` } }) as const
const looks = (at: string) => ({ toolCalls: [{ name: 'look', input: { at } }] })

const bytes = (requests: readonly ModelRequest[]): string[] => requests.map((request) => JSON.stringify(request))
const captured = (records: readonly LogRecord[]): CapturedRequest[] => [
  ...capturedRequests(JSON.parse(JSON.stringify(records)) as LogRecord[]),
]
const captures = (records: readonly LogRecord[]): RecordOf<'turn.captured'>[] =>
  records.filter((record) => record.type === 'turn.captured')

describe('a request that no record can hold', (it) => {
  it('is not captured, whatever nests so deep in it', () => {
    const request: ModelRequest = {
      system: '',
      messages: [],
      tools: [{ name: 'look', description: '', inputSchema: nested(600) as JsonSchema }],
      settings: {},
    }
    assert.throws(() => new RequestCaptures([]).next('m', request, []), withCode('RECORD_TOO_LARGE', '550 levels'))
  })
})

describe('the request of a turn', (it) => {
  it('is told once a turn, the same as the model got, with a provenance for each message', async (context) => {
    const { agent, ofType, script } = await startAgent(context, {
      replies: [looks('a'), 'seen', 'again'],
      tools: [look],
      settings: { maxTokens: 99, temperature: 0.5, thinkingLevel: 'low' },
      instructions: 'Look.',
    })
    await agent.prompt('look at a').result
    await agent.prompt('and again').result
    const told = ofType('turn.request')
    assert.equal(
      told.map(({ turnIndex }) => turnIndex),
      [0, 1, 2],
    )
    assert.equal(bytes(told.map(({ request }) => request)), bytes(script.requests))
    assert.equal(told[2]?.request.settings, { maxTokens: 99, temperature: 0.5, thinkingLevel: 'low' })
    assert.equal(told[2]?.provenance, [
      { type: 'loopTurn', turnIndex: 0, role: 'user', messageIndex: 0 },
      { type: 'loopTurn', turnIndex: 0, role: 'assistant', messageIndex: 1, calls: 1 },
      { type: 'loopTurn', turnIndex: 0, role: 'toolResult', messageIndex: 2 },
      { type: 'loopTurn', turnIndex: 1, role: 'assistant', messageIndex: 0 },
      { type: 'loopTurn', turnIndex: 2, role: 'user', messageIndex: 0 },
    ])
  })

  it('is told and captured once however often it is tried', async (context) => {
    const { agent, clock, ofType, untilState, records } = await startAgent(context, {
      replies: [failure('rateLimited'), failure('network'), 'at last'],
      captureTurnRequests: true,
    })
    const { result } = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(60_000)
    assert.is((await result).text, 'at last')
    assert.is(ofType('turn.request').length, 1)
    assert.is(captures(await records()).length, 1)
  })

  it('is not in the log unless asked for', async (context) => {
    const { agent, records } = await startAgent(context, { replies: ['hello'] })
    await agent.prompt('hi').result
    assert.equal(captures(await records()), [])
  })

  it('says what was stamped, and what was merged into one message', async (context) => {
    const { agent, ofType, records } = await startAgent(context, { replies: ['hello', 'yes'] })
    await agent.prompt('who am I?', {
      context: [
        { content: 'You are Ada.', provenance: { type: 'identityBlock', name: 'persona', order: 1 } },
        { content: 'The user likes tea.', provenance: { type: 'memoryTier', tier: 'long-term', recordId: 'm7' } },
      ],
    }).result
    await agent.prompt('and now?', { provenance: { type: 'unknown' } }).result
    const [first, second] = ofType('turn.request')
    assert.is(first?.request.messages.length, 1)
    assert.equal(first?.provenance, [
      {
        type: 'identityBlock',
        name: 'persona',
        order: 1,
        merged: [
          { type: 'memoryTier', tier: 'long-term', recordId: 'm7', block: 1 },
          { type: 'loopTurn', turnIndex: 0, role: 'user', messageIndex: 2, block: 2 },
        ],
      },
    ])
    assert.equal(second?.provenance.at(-1), { type: 'unknown' })
    const stamps = (await records()).flatMap((record) =>
      record.type === 'message.added' ? [record.message.provenance?.type] : [],
    )
    assert.equal(stamps, ['identityBlock', 'memoryTier', undefined, 'unknown'])
  })

  it('keeps stamps and context of what waits in a queue', async (context) => {
    const store = memoryStore()
    const { agent, runtime, script } = await startAgent(context, {
      store,
      replies: [looks('a')],
      tools: [look],
      check: false,
    })
    agent.prompt('first')
    agent.prompt('second', {
      context: [{ content: 'A memory.', provenance: { type: 'memoryTier', tier: 's', recordId: '1' } }],
    })
    await agent.close()
    assert.is(script.requests.length <= 1, true)
    const model = scriptedModel(['one', 'two'])
    const again = await runtime.resume('a1', defineAgent({ name: 'tester', model, tools: [look] }))
    const messages = new Promise<void>((resolve) => {
      again.subscribe((event) => event.type === 'run.end' && again.conversation.trunk().length >= 4 && resolve())
    })
    await messages
    assert.ok(
      again.conversation
        .trunk()
        .some(({ message }) => message.role === 'user' && message.provenance?.type === 'memoryTier'),
    )
  })

  for (const [what, options] of [
    ['a provenance of no known kind', { provenance: { type: 'gossip' } }],
    ['a tier without a record', { context: [{ content: 'x', provenance: { type: 'memoryTier', tier: 'a' } }] }],
  ] as const) {
    it(`is refused ${what}`, async (context) => {
      const { agent } = await startAgent(context)
      // @ts-expect-error what a caller without types may pass
      assert.throws(() => agent.prompt('x', options), withCode('INVALID_OPTION', 'agent.prompt'))
    })
  }
})

describe('a captured request', (it) => {
  it('is rebuilt byte for byte, and what stays is stored once', async (context) => {
    const { agent, script, records } = await startAgent(context, {
      replies: [looks('a'), looks('b'), 'done', looks('c'), 'done again'],
      tools: [look],
      instructions: 'Look around. '.repeat(50),
      captureTurnRequests: true,
    })
    await agent.prompt('look').result
    await agent.prompt('more').result
    const log = await records()
    assert.equal(bytes(captured(log).map(({ request }) => request)), bytes(script.requests))
    const [first, ...others] = captures(log)
    assert.is(first?.kept, 0)
    assert.ok(first?.system !== undefined && first.tools !== undefined && first.settings !== undefined)
    for (const [index, capture] of others.entries()) {
      assert.is(capture.system ?? capture.tools ?? capture.settings, undefined)
      assert.is(capture.kept, script.requests[index]!.messages.length)
    }
    assert.equal(
      captured(log).map(({ provenance, request }) => provenance.length === request.messages.length),
      [true, true, true, true, true],
    )
  })

  it('comes before the reply to it, so that a process that died asking has it', async (context) => {
    const { agent, records } = await startAgent(context, { replies: ['hello'], captureTurnRequests: true })
    await agent.prompt('hi').result
    const types = (await records()).map(({ type }) => type)
    assert.ok(types.indexOf('turn.captured') > types.indexOf('turn.start'))
    assert.ok(types.indexOf('turn.captured') < types.indexOf('reply.end'))
  })

  it('goes on across a revert, a compaction and a second life', async (context) => {
    const store = memoryStore()
    const options = {
      name: 'tester',
      tools: [look],
      captureTurnRequests: true,
      braking: { revert: true },
      compaction: { contextWindow: 4_000, threshold: 0.5 },
    } as const
    const first = scriptedModel([
      looks('a'),
      looks('x'.repeat(3_000)),
      { toolCalls: [{ name: 'revert_to_state', input: { category: 'failure', step: 'n1', summary: 'no good' } }] },
      'done',
      looks('y'.repeat(6_000)),
      'still here',
    ])
    const requests: ModelRequest[] = []
    const watched = (model: typeof first) => ({
      id: model.id,
      stream: (...args: Parameters<typeof first.stream>) => {
        requests.push(args[0])
        return model.stream(...args)
      },
    })
    const one = await createRuntime({ store })
    const agent = await one.spawn(defineAgent({ ...options, model: watched(first) }), { id: 'a1' })
    await agent.prompt('go').result
    await agent.prompt('on').result
    await agent.close()
    const two = await one.resume('a1', defineAgent({ ...options, model: watched(scriptedModel(['hello again'])) }))
    context.cleanup(() => one.close())
    await two.prompt('back').result
    const records: LogRecord[] = []
    for await (const record of store.read('a1')) records.push(record)
    assert.ok(records.some((record) => record.type === 'revert.applied' && record.applied))
    assert.equal(bytes(captured(records).map(({ request }) => request)), bytes(requests))
    assert.ok(captures(records).at(-1)!.kept > 0, 'the second life stores a difference too')
  })

  it('does not hold keys that are passed through to the provider', async (context) => {
    const { agent, records } = await startAgent(context, {
      replies: ['hello'],
      captureTurnRequests: true,
      settings: { providerOptions: { openai: { apiKey: 'very-private', user: 'u1' } } },
    })
    await agent.prompt('hi').result
    const log = JSON.stringify(await records())
    assert.not.match(log, /very-private/)
    assert.match(log, /"user":"u1"/)
  })
})

for (const family of wireFamilies) {
  describe(`a captured request over ${family.name}`, (it) => {
    it('gives the same bytes on the wire when it is sent again', async (context) => {
      const { stop, toolUse } = family.stops
      const replies: WireReply[] = [
        { blocks: [{ text: ['let me look'] }, { call: 'c1', name: 'look', input: ['{"at":"é"}'] }], stop: toolUse },
        { blocks: [{ text: ['seen'] }], stop },
      ]
      const { server, model } = await useWire(context, family, replies)
      const { agent, ofType, records } = await startAgent(context, {
        model,
        tools: [look],
        instructions: 'Look.',
        settings: { maxTokens: 64, temperature: 0.25 },
        captureTurnRequests: true,
      })
      assert.is((await agent.prompt('look').result).text, 'seen')
      const sent = server.requests.map(({ body }) => JSON.stringify(body))
      assert.is(sent.length, 2)
      for (const requests of [ofType('turn.request'), captured(await records())]) {
        const second = await useWire(context, family, replies)
        for (const { request } of requests) await replyOf(second.model, request, context.signal)
        assert.equal(
          second.server.requests.map(({ body }) => JSON.stringify(body)),
          sent,
        )
      }
    })
  })
}
