import type { Tool } from '@ag-ui/core'
import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { tool } from '../../../test/support/agentHarness.ts'
import { lastingStore } from '../../bridge/test/server/bridgeHarness.ts'
import { inputOf, say, serveFrontEnds } from './agUiHarness.ts'

/** Calls the tool that it is told the name of, with `{ at: 1 }`, and says what came of it. */
const caller = () =>
  defineAgent({
    name: 'caller',
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      const said = textOf(last.content)
      if (last.role === 'toolResult') return `It was: ${said}.`
      return { toolCalls: said.split(' ').map((name) => ({ name, input: { at: 1 }, callId: `${name}-1` })) }
    }),
    tools: [
      tool('ask', (_, context) => context.ask(z.enum(['red', 'blue']), 'Which?')),
      defineTool({ name: 'locate', description: 'Where.', input: z.looseObject({}) }),
      tool('write', (input) => `wrote ${JSON.stringify(input)}`, { needsApproval: true }),
    ],
  })

const locate: Tool = { name: 'locate', description: 'Where.', parameters: { type: 'object' } }

/** The last event, which must be the end of a run. */
const endOf = (events: readonly object[]) =>
  events.at(-1) as { readonly type: string; readonly code?: string; readonly outcome?: Record<string, unknown> }

const answerIn = (events: readonly object[]): string =>
  events.flatMap((event) => ('delta' in event && 'messageId' in event ? [String(event.delta)] : [])).join('')

describe('a question, for a front end', (it) => {
  it('is an interrupt with its schema, and goes on with an answer that fits', async (context) => {
    const front = await serveFrontEnds(context, [caller()])
    const agent = front.agent()
    await say(agent, 'ask')
    const [interrupt] = agent.pendingInterrupts
    assert.equal(
      [interrupt!.reason, interrupt!.message, interrupt!.toolCallId, interrupt!.responseSchema],
      ['escapement:question', 'Which?', 'ask-1', { type: 'string', enum: ['red', 'blue'] }],
    )
    const answer = (payload: unknown) => [{ interruptId: interrupt!.id, status: 'resolved' as const, payload }]
    const refused = await front.post(inputOf({ runId: 'r2', messages: [], resume: answer('green') }))
    assert.match(await refused.text(), 'ANSWER_INVALID')
    const events = await say(agent, undefined, { resume: answer('blue') })
    assert.match(answerIn(events), 'It was: blue.')
  })

  it('that is cancelled rejects in the tool', async (context) => {
    const front = await serveFrontEnds(context, [caller()])
    const agent = front.agent()
    await say(agent, 'ask')
    const [interrupt] = agent.pendingInterrupts
    const events = await say(agent, undefined, { resume: [{ interruptId: interrupt!.id, status: 'cancelled' }] })
    assert.match(answerIn(events), 'Nobody answers "Which?"')
  })

  it('is still there after the server was started again', async (context) => {
    const store = lastingStore()
    const before = await serveFrontEnds(context, [caller()], { runtime: { store } })
    await say(before.agent(), 'ask')
    const [pending] = before.runtime.agent('thread')!.pending()
    await before.server.close()
    await before.runtime.close()
    const after = await serveFrontEnds(context, [caller()], { runtime: { store } })
    const resume = [{ interruptId: pending!.key, status: 'resolved' as const, payload: 'red' }]
    const events = await say(after.agent(), undefined, { resume })
    assert.match(answerIn(events), 'It was: red.')
  })
})

describe('a tool of the front end', (it) => {
  it('ends the run with its call open, and its result comes with the next', async (context) => {
    const front = await serveFrontEnds(context, [caller()])
    const agent = front.agent()
    const events = await say(agent, 'locate', { tools: [locate] })
    assert.equal(endOf(events).outcome, { type: 'success' })
    assert.equal(events.filter((event) => 'name' in event && event.name === 'escapement.tools.ignored').length, 0)
    agent.addMessage({ id: 'mine', role: 'tool', toolCallId: 'locate-1', content: 'in Ulm' })
    const next = await say(agent, undefined, { tools: [locate] })
    assert.match(answerIn(next), 'It was: in Ulm.')
    assert.equal(agent.messages.filter(({ role }) => role === 'tool').length, 1)
  })

  it('may have failed', async (context) => {
    const front = await serveFrontEnds(context, [caller()])
    const agent = front.agent()
    await say(agent, 'locate', { tools: [locate] })
    agent.addMessage({ id: 'mine', role: 'tool', toolCallId: 'locate-1', content: '', error: 'no GPS' })
    assert.match(answerIn(await say(agent, undefined, { tools: [locate] })), 'It was: no GPS.')
  })

  it('waits beside an approval, which comes first for who does not answer both', async (context) => {
    const front = await serveFrontEnds(context, [caller()])
    const agent = front.agent()
    await say(agent, 'locate write', { tools: [locate] })
    assert.equal(
      agent.pendingInterrupts.map(({ reason }) => reason),
      ['tool_call'],
    )
    const payload = { approved: true, input: { at: 2 } }
    agent.addMessage({ id: 'mine', role: 'tool', toolCallId: 'locate-1', content: 'in Ulm' })
    const resume = [{ interruptId: agent.pendingInterrupts[0]!.id, status: 'resolved' as const, payload }]
    const events = await say(agent, undefined, { tools: [locate], resume })
    assert.match(answerIn(events), /wrote \{"at":2\}/)
  })

  it('is an interrupt for a client that does not have it', async (context) => {
    const front = await serveFrontEnds(context, [caller()])
    const agent = front.agent()
    await say(agent, 'locate')
    const [interrupt] = agent.pendingInterrupts
    assert.is(interrupt!.reason, 'escapement:call')
    const resume = [{ interruptId: interrupt!.id, status: 'resolved' as const, payload: { result: 'in Ulm' } }]
    assert.match(answerIn(await say(agent, undefined, { resume })), 'It was: in Ulm.')
  })
})
