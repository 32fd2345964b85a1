import type { McpServer } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import { policyModel } from '../../models/src/policyModel.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import type { ConversationNode } from '../../../src/conversation/tree/node.ts'
import { LiveUpdates } from '../src/liveUpdates.ts'
import { pastUpdates } from '../src/pastUpdates.ts'
import { pngOf } from '../../../test/support/imageBytes.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { errorOf, openHouse } from './acpHarness.ts'

const echo = defineTool({
  name: 'echo',
  description: 'Echo.',
  input: z.object({ text: z.string() }),
  run: ({ text }, { report }) => {
    if (text === 'bad') throw new Error('no echo')
    report('half')
    return text
  },
})

describe('an ACP conversation', (it) => {
  it('begins with what the agent can do, and with a session that is a running agent', async (context) => {
    const greeter = defineAgent({ name: 'greeter', model: scriptedModel(['hello']) })
    const { connect, runtime } = await openHouse(context, [greeter])
    const editor = await connect()
    const { protocolVersion, agentInfo, agentCapabilities } = editor.hello
    assert.is(protocolVersion, 1)
    assert.is(agentInfo?.name, 'escapement')
    assert.equal(agentCapabilities?.promptCapabilities, { image: true, audio: true, embeddedContext: true })
    assert.is(agentCapabilities?.loadSession, true)
    assert.equal(agentCapabilities?.sessionCapabilities, { list: {}, resume: {}, close: {} })
    const sessionId = await editor.open()
    assert.is(runtime.agent(sessionId)?.definition, 'greeter')
  })

  it('streams text and thinking before it answers how the turn ended', async (context) => {
    const reply = { thinking: 'let me see', text: 'the answer is 42' }
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model: scriptedModel([reply]) })])
    const editor = await connect()
    const { stopReason, _meta: meta } = await editor.say(await editor.open(), 'what?')
    assert.is(stopReason, 'end_turn')
    assert.is(editor.text(), 'the answer is 42')
    assert.is(editor.text('agent_thought_chunk'), 'let me see')
    assert.ok(editor.updates.filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk').length > 1)
    assert.is(editor.text('user_message_chunk'), '', 'the client knows what it said')
    assert.match(JSON.stringify(meta), /"turns":1/)
  })

  it('tells all of a reply that came in one piece', async (context) => {
    const whole = { content: [{ type: 'text', text: 'whole' }], stopReason: 'stop' } as const
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const model = scriptedModel([{ parts: [{ type: 'done', reply: { ...whole, usage } }] }])
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    await editor.say(await editor.open(), 'x')
    assert.is(editor.text(), 'whole')
  })

  it('tells of a tool call when it is made, begun, under way and ended', async (context) => {
    const model = scriptedModel([
      { text: 'now', toolCalls: [{ name: 'echo', input: { text: 'hi' }, callId: 'c1' }] },
      'done',
    ])
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model, tools: [echo] })])
    const editor = await connect()
    await editor.say(await editor.open(), 'x')
    const calls = editor.updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith('tool_call'))
    assert.equal(calls, [
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'c1',
        title: 'echo hi',
        name: 'echo',
        kind: 'other',
        rawInput: { text: 'hi' },
        status: 'pending',
      },
      { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'in_progress' },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'c1',
        content: [{ type: 'content', content: { type: 'text', text: 'half' } }],
      },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'c1',
        status: 'completed',
        content: [{ type: 'content', content: { type: 'text', text: 'hi' } }],
        rawOutput: 'hi',
      },
    ])
    assert.is(editor.text(), 'nowdone')
  })

  it('tells reports of a call a line each, and pieces of its output as they come', async (context) => {
    const reports = ['step 0', 'step 1', { output: 'a' }, { output: 'b\n' }, 'step 2', { progress: 3, total: 10 }]
    const work = defineTool({
      name: 'work',
      description: 'Work.',
      input: z.object({}),
      run: (_, { report }) => {
        for (const one of [...reports, { progress: 4, message: 'nearly' }, { odd: true }]) report(one)
        return 'done'
      },
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'work', input: {}, callId: 'c1' }] }, 'done'])
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model, tools: [work] })])
    const editor = await connect()
    await editor.say(await editor.open(), 'x')
    const told = editor.updates.filter((update) => 'content' in update && !('status' in update))
    const last = told.findLast(({ sessionUpdate }) => sessionUpdate === 'tool_call_update')
    assert.match(JSON.stringify(last), JSON.stringify('step 0\nstep 1\nab\nstep 2\n3 of 10\nnearly'))
  })

  it('is told to its end before the prompt is answered', async (context) => {
    const toolCalls = Array.from({ length: 120 }, (_, index) => ({ name: 'echo', input: { text: `${index}` } }))
    const model = scriptedModel([{ toolCalls }])
    const { connect } = await openHouse(context, [
      defineAgent({ name: 'a', model, tools: [echo], limits: { turns: 1 }, maxCallsPerReply: 200 }),
    ])
    const editor = await connect()
    await editor.say(await editor.open(), 'x')
    const ended = editor.updates.filter((update) => 'status' in update && update.status === 'completed')
    assert.is(ended.length, 120)
  })

  it('does not repeat, of the past, what a revert kept of a person', () => {
    const said = (id: number, text: string, more: object = {}): ConversationNode => ({
      id,
      parentId: null,
      message: { role: 'user', content: [{ type: 'text', text }], source: 'prompt' },
      runId: 'l1',
      turnIndex: 0,
      stepId: id,
      tokens: 1,
      pathTokens: 1,
      depth: 1,
      tags: [],
      ...more,
    })
    const memory = {
      role: 'user',
      content: [{ type: 'text', text: 'm' }],
      source: 'prompt',
      provenance: { type: 'unknown' },
    }
    const log = [said(1, 'one'), said(2, 'two', { rebasedFrom: 1 }), said(3, '', { message: memory }), said(4, 'four')]
    const { updates } = pastUpdates({ log: () => log })
    assert.equal(
      updates.map((update) => ('messageId' in update ? update.messageId : undefined)),
      ['n1', 'n4'],
    )
  })

  it('tells of compactions only to a client that announces them', () => {
    const at = { v: 3, seq: 1, time: 0, runId: 'l1', turnIndex: 2, agentId: 'a', path: [] } as const
    const start = { ...at, type: 'compaction.start', cause: 'headroom', tokens: 9 } as const
    const end = { ...at, type: 'compaction.end', tokensBefore: 9, tokensAfter: 9, costUsd: 0 } as const
    const heard = (showsCompactions: boolean): readonly unknown[] => {
      const live = new LiveUpdates({ agentId: 'a', showsCompactions, isOwn: () => false })
      return [...live.take(start), ...live.take({ ...end, applied: false, reason: 'too short' })]
    }
    const compaction = { sessionUpdate: 'compaction_update', compactionId: 'l1/t2' }
    assert.equal(heard(true), [
      { ...compaction, status: 'in_progress' },
      { ...compaction, status: 'failed', error: 'too short' },
    ])
    assert.equal(heard(false), [])
  })

  it('says that a call failed', async (context) => {
    const model = scriptedModel([{ toolCalls: [{ name: 'echo', input: { text: 'bad' }, callId: 'c1' }] }, 'done'])
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model, tools: [echo] })])
    const editor = await connect()
    await editor.say(await editor.open(), 'x')
    const end = editor.updates.find(
      (update) => update.sessionUpdate === 'tool_call_update' && update.status === 'failed',
    )
    assert.match(JSON.stringify(end), /no echo/)
  })

  for (const [stopReason, model, limits] of [
    ['max_tokens', scriptedModel([{ text: 'x', stopReason: 'length' }]), {}],
    ['refusal', scriptedModel([{ text: 'no', stopReason: 'refusal' }]), {}],
    ['max_turn_requests', policyModel(() => ({ toolCalls: [{ name: 'echo', input: { text: 'x' } }] })), { turns: 2 }],
    ['max_tokens', policyModel(() => ({ toolCalls: [{ name: 'echo', input: { text: 'x' } }] })), { tokens: 1 }],
  ] as const) {
    it(`answers ${stopReason} for ${JSON.stringify(limits)} of ${model.id}`, async (context) => {
      const { connect } = await openHouse(context, [defineAgent({ name: 'a', model, tools: [echo], limits })])
      const editor = await connect()
      assert.is((await editor.say(await editor.open(), 'x')).stopReason, stopReason)
    })
  }

  it('answers max_turn_requests for a run that goes in circles, and says what was noticed and why it is paused', async (context) => {
    const model = policyModel(() => ({ toolCalls: [{ name: 'echo', input: { text: 'x' } }] }))
    const { connect } = await openHouse(context, [
      defineAgent({ name: 'a', model, tools: [echo], braking: { stall: { revert: false } } }),
    ])
    const editor = await connect()
    const { stopReason, _meta } = await editor.say(await editor.open(), 'x')
    assert.is(stopReason, 'max_turn_requests')
    assert.match(JSON.stringify(_meta), /"type":"stall","rule":"repeat".*6 times: echo text=x/)
    const noticed = editor.updates.flatMap((update) => {
      const { _meta: meta, sessionUpdate, ...rest } = update
      const { rung } = (meta?.['escapement'] ?? {}) as { readonly rung?: string }
      return rung === undefined
        ? []
        : [[rung, sessionUpdate, (rest as { readonly content: { text: string } }).content.text]]
    })
    const evidence = (count: number) => `the same call with the same result ${count} times: echo text=x`
    assert.equal(noticed, [
      ['note', 'agent_thought_chunk', `Going in circles: ${evidence(4)}. The model is told.`],
      ['note', 'agent_thought_chunk', `Going in circles: ${evidence(5)}. The model is told.`],
      ['pause', 'agent_message_chunk', `Paused, as it went in circles: ${evidence(6)}. Say something, and it goes on.`],
    ])
  })

  it('answers with an error that has the code when the model fails', async (context) => {
    const model = scriptedModel([{ error: { kind: 'auth', message: 'no key' } }, 'again'])
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    const sessionId = await editor.open()
    const error = await errorOf(editor.say(sessionId, 'x'))
    assert.is(error.code, -32603)
    assert.match(error.message, /no key/)
    assert.equal(error.data, { code: 'MODEL_AUTH' })
    assert.is((await editor.say(sessionId, 'y')).stopReason, 'end_turn')
  })

  it('begins a message anew when a reply broke off', async (context) => {
    const model = scriptedModel([
      {
        parts: [
          { type: 'text.delta', text: 'bro' },
          { type: 'error', error: { kind: 'network', message: 'gone', retryAfterMs: 1 } },
        ],
      },
      'whole',
    ])
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    assert.is((await editor.say(await editor.open(), 'x')).stopReason, 'end_turn')
    const ids = editor.updates.flatMap((update) =>
      update.sessionUpdate === 'agent_message_chunk' ? [update.messageId] : [],
    )
    assert.equal([...new Set(ids)], ['t0', 't0.2'])
    assert.match(editor.text('agent_thought_chunk'), /broke off.*gone/)
  })

  it('gives links, resources, images and sound on to the model, and refuses what is empty or no base64', async (context) => {
    const model = scriptedModel(['ok'])
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    const sessionId = await editor.open()
    const audio = { type: 'audio', data: '~~~', mimeType: 'audio/wav' } as const
    const refused = await errorOf(editor.agent.request('session/prompt', { sessionId, prompt: [audio] }))
    assert.is(refused.code, -32602)
    assert.equal(refused.data, { code: 'INVALID_CONTENT', sessionId })
    const empty = await errorOf(editor.agent.request('session/prompt', { sessionId, prompt: [] }))
    assert.is(empty.code, -32602)
    const pdf = Buffer.from('%PDF-').toString('base64')
    const { stopReason } = await editor.agent.request('session/prompt', {
      sessionId,
      prompt: [
        { type: 'text', text: 'see' },
        { type: 'resource_link', name: 'a.ts', uri: 'file:///a.ts' },
        { type: 'resource', resource: { uri: 'file:///b.ts', text: 'const b = 1' } },
        { type: 'image', data: pngOf(), mimeType: 'image/png' },
        { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///d/a%20b.pdf', blob: pdf, mimeType: 'application/pdf' } },
        { type: 'resource', resource: { uri: 'zip:', blob: 'AA==' } },
      ],
    })
    assert.is(stopReason, 'end_turn')
    assert.equal(model.requests[0]?.messages[0]?.content, [
      { type: 'text', text: 'see' },
      { type: 'text', text: '[a.ts](file:///a.ts)' },
      { type: 'text', text: '<resource uri="file:///b.ts">\nconst b = 1\n</resource>' },
      { type: 'image', data: pngOf(), mimeType: 'image/png' },
      { type: 'file', data: 'AA==', mimeType: 'audio/wav' },
      { type: 'file', data: pdf, mimeType: 'application/pdf', name: 'a b.pdf' },
      { type: 'file', data: 'AA==', mimeType: 'application/octet-stream' },
    ])
  })

  it('says once that MCP servers of the client are not connected', async (context) => {
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model: policyModel(() => 'ok') })])
    const editor = await connect()
    const mcpServers: McpServer[] = [{ name: 'files', command: '/bin/x', args: [], env: [] }]
    const { sessionId } = await editor.agent.request('session/new', { cwd: '/', mcpServers })
    assert.is(editor.updates.length, 0)
    await editor.say(sessionId, 'x')
    await editor.say(sessionId, 'y')
    assert.is(editor.text('agent_thought_chunk').match(/not connected \(files\)/g)?.length, 1)
  })

  it('tells of a graft as a thought, and does not repeat what it copies', async (context) => {
    const back = { name: 'revert_to_state', input: { category: 'failure', step: 'n1', summary: 'no' } }
    const model = scriptedModel([
      { toolCalls: [{ name: 'echo', input: { text: 'hi' } }] },
      { toolCalls: [back, { name: 'graft', input: { steps: ['n2'] } }] },
      'done',
    ])
    const agent = defineAgent({ name: 'a', model, tools: [echo], braking: { revert: true, graft: true } })
    const { connect } = await openHouse(context, [agent])
    const editor = await connect()
    const sessionId = await editor.open()
    await editor.say(sessionId, 'x')
    assert.match(editor.text('agent_thought_chunk'), /Brought 2 messages of an abandoned branch back\.$/)
    const other = await connect()
    await other.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    assert.is(other.text('agent_thought_chunk'), editor.text('agent_thought_chunk'))
    const echoes = other.updates.filter((update) => /"echo hi"/.test(JSON.stringify(update)))
    assert.is(echoes.length, 1)
  })

  it('tells of a revert as a thought, and of what it abandoned', async (context) => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'echo', input: { text: 'hi' } }] },
      {
        toolCalls: [
          { name: 'revert_to_state', input: { category: 'failure', step: 'n1', summary: 'echo is of no use' } },
        ],
      },
      'done otherwise',
    ])
    const agent = defineAgent({ name: 'a', model, tools: [echo], braking: { revert: true } })
    const { connect } = await openHouse(context, [agent])
    const editor = await connect()
    const sessionId = await editor.open()
    await editor.say(sessionId, 'x')
    assert.match(
      editor.text('agent_thought_chunk'),
      /^Went back to n1: \d+ messages left the context\.\nlesson: .*of no use/s,
    )
    const other = await connect()
    await other.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    assert.is(other.text('agent_thought_chunk'), editor.text('agent_thought_chunk'))
    const at = (what: RegExp): number => other.updates.findIndex((update) => what.test(JSON.stringify(update)))
    assert.ok(at(/"echo hi"/) < at(/Went back/) && at(/Went back/) < at(/done otherwise/), 'in the order of events')
  })
})
