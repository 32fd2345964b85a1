import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { calls, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { caller, ends, Lives, paused, types } from '../support/lives.ts'
import { assert, describe } from '../support/suite.ts'

/** A tool of the page that a person looks at. */
const locate = (options: { needsApproval?: boolean } = {}) =>
  defineTool({ name: 'locate', description: 'Where the user is.', input: z.object({}), ...options })

describe('a tool without run', (it) => {
  it('is carried out by a client, however long that takes', async (context) => {
    const { agent, clock, script, ofType, untilState } = await startAgent(context, {
      tools: [locate()],
      limits: { ms: 1_000 },
      replies: [calls('c', 'locate'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    await clock.advance(1_000_000)
    assert.equal(agent.pending(), [
      { kind: 'call', agentId: 'a1', callId: 'c0', key: 'a1/t0/tool/c0', name: 'locate', input: {} },
    ])
    assert.equal(agent.approvals(), [])
    assert.throws(() => agent.decide('c0', 'approve'), withCode('ANSWER_INVALID', 'result'))
    assert.throws(() => agent.decide('c0', { value: 1 }), withCode('ANSWER_INVALID', '{ result }'))
    agent.decide('c0', { result: { lat: 48.4 } })
    await run.result
    assert.equal([resultsOf(script.requests[1]), ofType('tool.end')[0]!.message.isError], [['{"lat":48.4}'], false])
    assert.equal(ofType('tool.end')[0]!.returned, {})
    assert.throws(() => agent.decide('c0', { result: 1 }), withCode('CALL_NOT_PENDING'))
  })

  it('may fail, return nothing, or be refused', async (context) => {
    const { agent, script, untilState } = await startAgent(context, {
      tools: [locate()],
      replies: [calls('c', 'locate', 'locate', 'locate'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', { error: 'no GPS' })
    agent.decide('c1', { result: undefined })
    agent.decide('c2', 'deny', 'private')
    await run.result
    const [failed, nothing, refused] = resultsOf(script.requests[1])
    assert.equal([failed, nothing], ['no GPS', '(no output)'])
    assert.match(refused!, /Denied.*private/)
    const results = script.requests[1]!.messages.filter(({ role }) => role === 'toolResult')
    assert.equal(
      results.map((message) => 'isError' in message && message.isError),
      [true, false, true],
    )
  })

  it('is cut like any result, and loses secrets', async (context) => {
    const { agent, script, untilState } = await startAgent(context, {
      tools: [defineTool({ name: 'locate', description: 'Where.', input: z.object({}), maxOutputChars: 100 })],
      redact: { secrets: { PASSWORD: 'hunter2-hunter2' } },
      replies: [calls('c', 'locate'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', { result: `hunter2-hunter2 ${'x'.repeat(1_000)}` })
    await run.result
    const [result] = resultsOf(script.requests[1])
    assert.ok(result!.length < 200 && !result!.includes('hunter2'))
  })

  it('may need an approval first', async (context) => {
    const { agent, ofType, untilState } = await startAgent(context, {
      tools: [locate({ needsApproval: true })],
      replies: [calls('c', 'locate'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.is(agent.pending()[0]!.kind, 'approval')
    agent.decide('c0', 'approve')
    await untilState('paused')
    assert.is(agent.pending()[0]!.kind, 'call')
    agent.decide('c0', { result: 'here' })
    await run.result
    assert.is(ofType('tool.start').length, 1)
  })

  it('stands beside tools that run, in order', async (context) => {
    const ran: string[] = []
    const { agent, script, untilState } = await startAgent(context, {
      tools: [
        locate(),
        tool('look', () => {
          ran.push('look')
          return 'looked'
        }),
      ],
      toolExecution: 'sequential',
      replies: [calls('c', 'locate', 'look'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(ran, [])
    agent.decide('c0', { result: 'here' })
    await run.result
    assert.equal([ran, resultsOf(script.requests[1])], [['look'], ['here', 'looked']])
  })

  it('waits on after a crash, whatever record was the last', { timeoutMs: 20_000 }, async (context) => {
    const lives = new Lives(context)
    const requests: ModelRequest[] = []
    const definition = () => defineAgent({ name: 'finder', model: caller(['locate'], requests), tools: [locate()] })
    const first = await lives.begin(definition(), 'go')
    await paused(first.agent)
    const records = (await first.logs())['a1']!
    assert.equal(types(records).slice(-2), ['tool.start', 'call.requested'])
    for (const cut of [records.length - 1, records.length]) {
      const { agent } = await lives.resume(definition(), { a1: records.slice(0, cut) })
      await paused(agent)
      while (agent.pending().length === 0) await new Promise(setImmediate)
      const end = ends(agent)
      agent.decide(agent.pending()[0]!.key, { result: 'here' })
      await end
      assert.equal(resultsOf(requests.at(-1)), ['here'])
    }
  })

  it('is reviewed by afterTool like any other, and withheld if that fails', async (context) => {
    for (const fails of [false, true]) {
      const { agent, script, ofType, untilState } = await startAgent(context, {
        id: fails ? 'a2' : 'a1',
        tools: [locate()],
        afterTool: async ({ name }, { content }) => {
          if (fails) throw new Error('no reviewer')
          return { result: `${name}: ${JSON.stringify(content).includes('Ulm')}` }
        },
        replies: [calls('c', 'locate'), 'done'],
      })
      const run = agent.prompt('go')
      await untilState('paused')
      agent.decide('c0', { result: 'in Ulm' })
      assert.throws(() => agent.decide('c0', { result: 'in Bonn' }), withCode('CALL_NOT_PENDING'))
      await run.result
      assert.match(resultsOf(script.requests[1])[0]!, fails ? /withheld/ : /^locate: true$/)
      const [end] = ofType('tool.end')
      assert.equal([end!.hook, end!.returned], [fails ? 'withheld' : 'replaced', {}])
    }
  })

  it('is not defined with what only a run can have', () => {
    const odd = { effects: 'reversible', undo: () => {} } as const
    assert.throws(
      () => defineTool({ name: 'locate', description: 'Where.', input: z.object({}), ...odd }),
      withCode('INVALID_DEFINITION', 'undo'),
    )
  })
})
