import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { calls, resultsOf, startAgent, withCode } from '../support/agentHarness.ts'
import { asks, caller, ends, Lives, paused } from '../support/lives.ts'
import { assert, describe } from '../support/suite.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { heldCalls } from '../support/heldCalls.ts'

const save = (ran: unknown[]) =>
  defineTool({
    name: 'save',
    description: 'Saves.',
    input: z.object({ path: z.string(), mode: z.string().default('new') }),
    needsApproval: true,
    run: (input) => {
      ran.push(input)
      return 'saved'
    },
  })

describe('a call that is approved with other arguments', (it) => {
  it('runs with those, says so to the model, and the log has both', async (context) => {
    const ran: unknown[] = []
    const { agent, script, ofType, untilState } = await startAgent(context, {
      tools: [save(ran)],
      replies: [calls('c', ['save', { path: 'a' }]), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', 'approve', { input: { path: 'b' } })
    await run.result
    assert.equal(ran, [{ path: 'b', mode: 'new' }])
    assert.equal(
      ofType('approval.decided').map(({ decision, input }) => [decision, input]),
      [['approve', { path: 'b', mode: 'new' }]],
    )
    assert.equal(
      ofType('tool.start').map(({ input }) => input),
      [{ path: 'b', mode: 'new' }],
    )
    assert.equal(resultsOf(script.requests[1]), [
      'A person changed the arguments of this call before it ran, to: {"path":"b","mode":"new"}saved',
    ])
    const asked = script.requests[1]!.messages.flatMap(({ content }) => content).find(({ type }) => type === 'toolCall')
    assert.ok(asked?.type === 'toolCall')
    assert.equal(asked.input, { path: 'a' })
  })

  it('is held on when they do not fit the tool', async (context) => {
    const ran: unknown[] = []
    const { agent, untilState } = await startAgent(context, {
      tools: [save(ran)],
      replies: [calls('c', ['save', { path: 'a' }]), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    const edit = (input: unknown) => () => agent.decide('c0', 'approve', { input })
    assert.throws(edit({ path: 7 }), withCode('ANSWER_INVALID', 'path'))
    assert.throws(edit('nonsense'), withCode('ANSWER_INVALID', 'JSON'))
    assert.throws(() => agent.decide('c0', 'deny', { input: {} }), withCode('INVALID_OPTION', 'input'))
    assert.equal(heldCalls(agent), ['c0'])
    agent.decide('c0', 'approve')
    await run.result
    assert.equal(ran, [{ path: 'a', mode: 'new' }])
  })

  it('is the last word: beforeTool is not asked about it', async (context) => {
    const [ran, asked]: [unknown[], unknown[]] = [[], []]
    const { agent, untilState } = await startAgent(context, {
      tools: [save(ran)],
      beforeTool: ({ input }) => {
        asked.push(input)
        return undefined
      },
      replies: [calls('c', ['save', { path: 'a' }]), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', 'approve', { input: { path: 'b' } })
    await run.result
    assert.equal([asked, ran], [[{ path: 'a', mode: 'new' }], [{ path: 'b', mode: 'new' }]])
  })

  it('gives a sub-agent another task', async (context) => {
    const heard: ModelRequest[] = []
    const helper = defineAgent({ name: 'helper', model: caller(['look'], heard), tools: [asks('look')] })
    const { agent, until } = await startAgent(context, {
      agents: [helper],
      replies: [calls('c', ['helper', { task: 'go' }]), 'done'],
    })
    const run = agent.prompt('go')
    await until(({ type }) => type === 'approval.requested')
    const [call] = agent.pending()
    assert.equal([call?.kind, call?.agentId], ['approval', 'a1.1'])
    agent.decide(call!.key, 'approve', { input: { at: 2 } })
    await run.result
    assert.match(resultsOf(heard.at(-1))[0]!, /\{"at":2\}look done$/)
  })

  it('runs with them after a crash', async (context) => {
    const lives = new Lives(context)
    const ran: unknown[] = []
    const model = policyModel(({ messages }) =>
      messages.length > 1 ? 'done' : { toolCalls: [{ name: 'save', input: { path: 'a' } }] },
    )
    const definition = () => defineAgent({ name: 'saver', model, tools: [save(ran)] })
    const first = await lives.begin(definition(), 'go')
    await paused(first.agent)
    const end = ends(first.agent)
    first.agent.decide(first.agent.pending()[0]!.callId, 'approve', { input: { path: 'b' } })
    await end
    const records = (await first.logs())['a1']!
    const decided = records.findIndex(({ type }) => type === 'approval.decided')
    const second = await lives.resume(definition(), { a1: records.slice(0, decided + 1) }, { continue: false })
    await second.agent.resume().result
    assert.equal(ran, [
      { path: 'b', mode: 'new' },
      { path: 'b', mode: 'new' },
    ])
    const result = second.agent.conversation.trunk().find(({ message }) => message.role === 'toolResult')!
    assert.match(JSON.stringify(result.message.content), /A person changed the arguments/)
  })
})
