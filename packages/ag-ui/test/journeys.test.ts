import { EventType } from '@ag-ui/core'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { customs, ofType, say, serveFrontEnds, typesOf } from './agUiHarness.ts'

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  input: z.object({ text: z.string() }),
  run: async ({ text }) => text,
})
const careful = defineTool({
  name: 'careful',
  description: 'Asks first.',
  input: z.object({}),
  needsApproval: true,
  run: async () => 'done',
})
const call = (name: string, input: unknown = {}) => ({ toolCalls: [{ name, input }] })

describe('AG-UI journeys', (it) => {
  it('streams an answer that the official client assembles', async (context) => {
    const model = scriptedModel([{ thinking: 'hm hm', text: 'Hello you there' }, 'And again'])
    const { agent: dial, runtime } = await serveFrontEnds(context, [defineAgent({ name: 'a', model })])
    const agent = dial()
    const events = await say(agent, 'hi')
    const types = typesOf(events)
    assert.is(types[0], 'RUN_STARTED')
    assert.is(types.at(-1), 'RUN_FINISHED')
    for (const type of ['STATE_SNAPSHOT', 'STATE_DELTA', 'STEP_STARTED', 'STEP_FINISHED', 'REASONING_MESSAGE_CONTENT'])
      assert.ok(types.includes(type), `${type} in ${types.join(' ')}`)
    assert.not(types.includes('MESSAGES_SNAPSHOT'), 'the client has all of it')
    assert.is(ofType(events, EventType.TEXT_MESSAGE_CONTENT).length, 3)
    assert.equal(
      agent.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'hi'],
        ['reasoning', 'hm hm'],
        ['assistant', 'Hello you there'],
      ],
    )
    assert.is(agent.state.agentId, 'thread')
    assert.is(agent.state.state, 'idle')
    assert.equal(agent.state.usage, runtime.agent('thread')!.spent.usage)
    const second = await say(agent, 'more')
    assert.not(typesOf(second).includes('MESSAGES_SNAPSHOT'), 'the client still has all of it')
    const [end] = ofType(second, EventType.RUN_FINISHED)
    assert.equal(end!.result, { stopReason: 'stop', text: 'And again' })
    assert.is(runtime.agent('thread')!.conversation.trunk().length, 4)
    assert.is(agent.messages.length, 5)
  })

  it('tells of tool calls and their results', async (context) => {
    const model = scriptedModel([call('echo', { text: 'x' }), 'fine'])
    const { agent: dial } = await serveFrontEnds(context, [defineAgent({ name: 'a', model, tools: [echo] })])
    const agent = dial()
    const events = await say(agent, 'hi')
    const [start] = ofType(events, EventType.TOOL_CALL_START)
    const [result] = ofType(events, EventType.TOOL_CALL_RESULT)
    assert.is(start!.toolCallName, 'echo')
    assert.is(result!.toolCallId, start!.toolCallId)
    assert.is(result!.content, 'x')
    assert.equal(
      agent.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant'],
    )
    assert.not(
      (await say(agent, undefined, { forwardedProps: { command: 'abort' } })).some(
        ({ type }) => type === EventType.MESSAGES_SNAPSHOT,
      ),
    )
  })

  it('ends with an interrupt where a call waits for a decision, and goes on with the answer', async (context) => {
    const model = scriptedModel([call('careful'), 'went well', call('careful'), 'a pity'])
    const { agent: dial, post } = await serveFrontEnds(context, [defineAgent({ name: 'a', model, tools: [careful] })])
    const agent = dial()
    const events = await say(agent, 'do it')
    assert.is(customs(events, 'approval.requested').length, 1)
    const [interrupt] = agent.pendingInterrupts
    assert.is(interrupt!.reason, 'tool_call')
    assert.is(agent.state.pendingApprovals[0].interruptId, interrupt!.id)
    const refused = await post({
      threadId: 'thread',
      runId: 'other',
      messages: [{ id: 'z', role: 'user', content: 'and?' }],
    })
    assert.is(refused.status, 400)
    const wrong = await post({
      threadId: 'thread',
      runId: 'o2',
      messages: [],
      resume: [{ interruptId: 'x', status: 'cancelled' }],
    })
    assert.is(wrong.status, 409)
    const vague = await post({
      threadId: 'thread',
      runId: 'o3',
      messages: [],
      resume: [{ interruptId: interrupt!.id, status: 'resolved' }],
    })
    assert.is(vague.status, 400)
    const more = await say(agent, undefined, {
      resume: [{ interruptId: interrupt!.id, status: 'resolved', payload: { approved: true } }],
    })
    assert.is(ofType(more, EventType.TOOL_CALL_RESULT)[0]!.content, 'done')
    assert.is(agent.messages.at(-1)!.content, 'went well')
    await say(agent, 'once more')
    const [again] = agent.pendingInterrupts
    const last = await say(agent, undefined, { resume: [{ interruptId: again!.id, status: 'cancelled' }] })
    assert.match(ofType(last, EventType.TOOL_CALL_RESULT)[0]!.content as string, /cancelled/)
    assert.is(agent.messages.at(-1)!.content, 'a pity')
    assert.not(typesOf(last).includes('MESSAGES_SNAPSHOT'))
  })

  it('replaces the messages of the client when the model reverts', async (context) => {
    const model = scriptedModel([
      call('echo', { text: 'dead end' }),
      call('revert_to_state', { step: 'n1', category: 'failure', summary: 'echo does not help' }),
      'done at last',
    ])
    const definition = defineAgent({ name: 'a', model, tools: [echo], braking: { revert: true } })
    const { agent: dial, runtime } = await serveFrontEnds(context, [definition])
    const agent = dial()
    const events = await say(agent, 'try')
    const name = runtime.agent('thread')!.conversation.abandoned().length
    assert.ok(name > 0, 'something was abandoned')
    assert.is(customs(events, 'revert.applied').length, 1)
    assert.is(customs(events, 'tag.added').length, 1)
    assert.equal(
      agent.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'try'],
        ['assistant', 'done at last'],
      ],
    )
  })

  it('starts a reply again after its stream broke, and leaves nothing of the first attempt', async (context) => {
    const model = scriptedModel([
      {
        parts: [
          { type: 'thinking.delta', text: 'bad' },
          { type: 'text.delta', text: 'wro' },
          { type: 'error', error: { kind: 'network', message: 'gone', retryAfterMs: 0 } },
        ],
      },
      'right',
    ])
    const { agent: dial } = await serveFrontEnds(context, [defineAgent({ name: 'a', model, retry: { baseMs: 1 } })])
    const agent = dial()
    const events = await say(agent, 'hi')
    assert.is(customs(events, 'reply.reset').length, 1)
    assert.is(agent.messages.at(-1)!.content, 'right')
    assert.equal(agent.messages.filter(({ role }) => role === 'assistant').length, 1)
  })

  it('tells of sub-agents, and asks for their approvals at the root', async (context) => {
    const worker = defineAgent({
      name: 'worker',
      description: 'Works.',
      model: scriptedModel([call('careful'), 'work is done']),
      tools: [careful],
    })
    const model = scriptedModel([call('worker', { task: 'work' }), 'all is done'])
    const { agent: dial } = await serveFrontEnds(context, [defineAgent({ name: 'boss', model, agents: [worker] })])
    const agent = dial()
    const events = await say(agent, 'go')
    const [started] = ofType(events, EventType.SUBAGENT_STARTED)
    const [suspended] = ofType(events, EventType.SUBAGENT_FINISHED)
    assert.is(started!.name, 'worker')
    const [interrupt] = agent.pendingInterrupts
    assert.equal(suspended!.outcome, { type: 'suspended', interruptIds: [interrupt!.id] })
    assert.is(interrupt!.subagentRunId, started!.subagentRunId)
    assert.is(agent.state.children.length, 1)
    const more = await say(agent, undefined, {
      resume: [{ interruptId: interrupt!.id, status: 'resolved', payload: { approved: true } }],
    })
    const text = ofType(more, EventType.TEXT_MESSAGE_CONTENT).filter(
      (event) => event.subagentRunId === started!.subagentRunId,
    )
    assert.is(text.map(({ delta }) => delta).join(''), 'work is done')
    assert.is(ofType(more, EventType.SUBAGENT_FINISHED).length, 1)
    assert.is(agent.messages.at(-1)!.content, 'all is done')
    assert.equal(agent.state.children, [])
  })

  it('reports a model that fails, with the code', async (context) => {
    const model = scriptedModel([{ error: { kind: 'auth', message: 'no key' } }, 'better'])
    const { agent: dial } = await serveFrontEnds(context, [defineAgent({ name: 'a', model })])
    const agent = dial()
    const events = await say(agent, 'hi')
    assert.is(ofType(events, EventType.RUN_ERROR)[0]!.code, 'MODEL_AUTH')
    const next = await say(agent, 'again?')
    assert.is(typesOf(next).at(-1), 'RUN_FINISHED')
    assert.equal(
      agent.messages.map(({ role }) => role),
      ['user', 'user', 'assistant'],
    )
  })

  it('asks whether a run that met its limit shall go on', async (context) => {
    const model = scriptedModel([call('echo', { text: '1' }), call('echo', { text: '2' }), 'end'])
    const definition = defineAgent({ name: 'a', model, tools: [echo], limits: { turns: 1 } })
    const { agent: dial } = await serveFrontEnds(context, [definition])
    const agent = dial()
    await say(agent, 'hi')
    const [pause] = agent.pendingInterrupts
    assert.is(pause!.reason, 'escapement:limit')
    const on = await say(agent, undefined, { resume: [{ interruptId: pause!.id, status: 'resolved' }] })
    assert.is(ofType(on, EventType.TOOL_CALL_RESULT)[0]!.content, '2')
    const off = await say(agent, undefined, { resume: [{ interruptId: pause!.id, status: 'cancelled' }] })
    assert.equal(ofType(off, EventType.RUN_FINISHED)[0]!.outcome, { type: 'cancelled' })
    assert.is(agent.state.state, 'idle')
  })
})
