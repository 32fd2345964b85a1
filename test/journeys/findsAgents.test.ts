import { z } from 'zod'
import { createRuntime, defineAgent, deferred, memoryStore, policyModel, type LogRecord } from '../../src/index.ts'
import { calls, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { cutStore, recordsOf, settled } from './cutLogs.ts'

const says = (name: string, text: string, more: object = {}) =>
  defineAgent({ name, description: `Knows about ${name}.`, model: policyModel(() => text), ...more })

const poet = says('poetry', 'Time, kept gently.')
const lawyer = says('law', 'It is allowed.', { input: z.object({ country: z.string() }) })
const cook = says('cooking', 'Ten minutes.')

describe('sub-agents that no request lists', (it) => {
  it('are found by words and called as themselves', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      agents: [cook, deferred([poet, lawyer], { about: 'the arts' })],
      replies: [
        calls('f', ['find_tools', { query: 'law' }]),
        calls('c', ['call_tool', { name: 'law', input: { task: 'May I?', country: 'Norway' } }]),
        'done',
      ],
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    const [first, second, third] = script.requests
    assert.equal(
      first!.tools.map(({ name }) => name),
      ['find_tools', 'call_tool', 'cooking'],
    )
    assert.match(first!.tools[0]!.description, /the arts/)
    assert.equal(second!.tools, first!.tools)
    assert.match(resultsOf(second)[0]!, /Knows about law\.[^]*law\(input: \{[^]*country: string/)
    assert.equal(resultsOf(third).at(-1), 'It is allowed.')
    assert.equal(
      ofType('tool.start').map(({ name }) => name),
      ['find_tools', 'law'],
    )
    assert.equal(ofType('child.spawned').length, 0)
    assert.is(ofType('tool.end')[1]!.message.via, 'call_tool')
    assert.ok(ofType('tool.end')[1]!.spent !== undefined, 'what it spent counts')
  })

  it('are a group alone, called by their own name too, and told what they take when it does not fit', async (context) => {
    const { agent, script } = await startAgent(context, {
      agents: deferred([poet, lawyer]),
      replies: [
        calls('c', ['poetry', { task: 'A line.' }]),
        calls('d', ['call_tool', { name: 'law', input: { task: 'May I?' } }]),
        calls('e', ['call_tool', { name: 'laws', input: { task: 'May I?' } }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    const [first, ...later] = script.requests
    assert.match(first!.tools[0]!.description, /poetry, law/)
    assert.equal(
      later.map((request) => String(resultsOf(request).at(-1)).split('\n')[0]),
      [
        'Time, kept gently.',
        'Invalid arguments: country: missing, give a string. Correct them and call again.',
        'There is no tool "laws". The nearest: law. Find tools with find_tools.',
      ],
    )
    assert.match(resultsOf(later[1])[1]!, /law\(input: \{/)
  })

  it('are listed in the turns that name them', async (context) => {
    const { agent, script } = await startAgent(context, {
      agents: deferred([poet, lawyer]),
      beforeTurn: ({ turnIndex }) => (turnIndex === 0 ? { tools: ['law'] } : {}),
      replies: [calls('c', ['law', { task: 'May I?', country: 'Chad' }]), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      script.requests.map(({ tools }) => tools.map(({ name }) => name)),
      [['law'], ['find_tools', 'call_tool']],
    )
  })

  it('work on their own and report, as others do', async (context) => {
    const { agent, script, clock } = await startAgent(context, {
      agents: deferred([{ definition: poet, detach: 'report' }]),
      replies: [
        calls('c', ['call_tool', { name: 'poetry', input: { task: 'A line.' } }]),
        calls('w', ['wait_for', {}]),
        'done',
      ],
    })
    const { result } = agent.prompt('go')
    await clock.advance(1)
    await result
    assert.ok(script.requests[0]!.tools.some(({ name }) => name === 'wait_for'))
    assert.match(JSON.stringify(script.requests.map(({ messages }) => messages)), /Time, kept gently/)
  })

  it('refuse groups where there can be none', () => {
    const model = policyModel(() => 'ok')
    const own = tool('own', () => 'ok')
    const wrong = (make: () => unknown, text: RegExp): void => {
      const isIt = (thrown: unknown) => withCode('INVALID_DEFINITION')(thrown) && text.test((thrown as Error).message)
      assert.throws(make, isIt)
    }
    wrong(() => deferred([own, poet] as never), /a group has tools or agents, not both/)
    wrong(
      () => defineAgent({ name: 'a', model, agents: deferred([own]) as never }),
      /a group of tools is for the option "tools"/,
    )
    wrong(() => defineAgent({ name: 'a', model, tools: [deferred([poet])] as never }), /tools/)
    wrong(() => defineAgent({ name: 'a', model, agents: deferred([poet, poet]) }), /two agents are named "poetry"/)
    wrong(
      () => defineAgent({ name: 'a', model, agents: deferred([poet]), settings: { toolChoice: { tool: 'poetry' } } }),
      /"poetry" is deferred, so no request lists it/,
    )
    wrong(
      () => defineAgent({ name: 'a', model, agents: (() => deferred([poet])) as never }).agents,
      /a function cannot return a group/,
    )
    wrong(
      () => defineAgent({ name: 'a', model, agents: (() => [deferred([poet])]) as never }).toolSpecs,
      /a function cannot return a group/,
    )
  })

  it('go on where the process died', { timeoutMs: 20_000 }, async ({ cleanup }) => {
    let asked = 0
    const helper = defineAgent({
      name: 'helper',
      model: policyModel(() => {
        asked += 1
        return 'helped'
      }),
    })
    const lead = defineAgent({
      name: 'lead',
      model: policyModel(({ messages }) =>
        messages.at(-1)?.role === 'toolResult'
          ? 'done'
          : { toolCalls: [{ name: 'call_tool', input: { name: 'helper', input: { task: 'help' } } }] },
      ),
      agents: deferred([helper]),
    })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    await (await runtime.spawn(lead, { id: 'a1' })).prompt('go').result
    const past = await recordsOf(store, 'a1')
    const from = past.findIndex(({ type }) => type === 'turn.start') + 1
    for (let end = from; end <= past.length; end++) {
      const cut: readonly LogRecord[] = past.slice(0, end)
      const next = await createRuntime({ store: await cutStore('a1', cut) })
      const agent = await next.resume('a1', lead, { continue: false })
      if (agent.pause !== null) {
        const ended = settled(agent)
        assert.is((await agent.resume().result).text, 'done', `after record ${end}`)
        await ended
      }
      await next.close()
    }
    assert.ok(asked > 1)
  })
})
