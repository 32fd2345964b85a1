import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { loadSession } from '../../packages/sessions/src/loadSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { quiet, startAgent, tool, usageOf, type HarnessOptions } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const usage = usageOf(10, 2)

/** Looks `looks` times and then says how often it looked. */
const lookout = (name: string, looks: number) => {
  const looked: string[] = []
  const definition = defineAgent({
    name,
    model: policyModel(({ messages }) => {
      const seen = messages.filter(({ role }) => role === 'toolResult').length
      if (seen >= looks) return { text: `${name} looked ${seen} times`, usage }
      return { toolCalls: [{ name: 'look', input: { seen } }], usage }
    }),
    tools: [
      tool('look', (_, { key }) => {
        looked.push(key)
        return 'seen'
      }),
    ],
  })
  return { definition, looked }
}

/** Calls each agent once, and then repeats what they answered. */
const leader = (...names: readonly string[]) =>
  policyModel(({ messages }) => {
    const answers = messages.filter(({ role }) => role === 'toolResult').map(({ content }) => textOf(content))
    if (answers.length > 0) return { text: answers.join(' / '), usage }
    return { toolCalls: names.map((name) => ({ name, input: { task: `for ${name}` } })), usage }
  })

async function start(context: CaseContext, looks: number, options: HarnessOptions) {
  const { definition, looked } = lookout('child', looks)
  const harness = await startAgent(context, { model: leader('child'), agents: [definition], ...options })
  return { ...harness, looked }
}

describe('a child from code that goes on from its log', (it) => {
  it('is counted from where it goes on', async (context) => {
    const { agent, ofType } = await startAgent(context)
    for (let life = 1; life <= 2; life += 1) {
      const helper = await agent.spawn(lookout('helper', life).definition, { id: 'h1' })
      await helper.prompt('go').result
      await helper.close()
    }
    assert.equal(
      ofType('child.ended').map(({ spent }) => [spent.turns, spent.usage]),
      [
        [2, usageOf(20, 4)],
        [2, usageOf(20, 4)],
      ],
    )
    assert.is(agent.spent.turns, 4)
  })
})

describe('a run whose sub-agent used up its limit', (it) => {
  it('pauses with the call open, and goes on with the sub-agent where it was', async (context) => {
    const { agent, ofType, looked, records } = await start(context, 5, { limits: { turns: 4 } })
    const first = await agent.prompt('go').result
    assert.equal([first.stopReason, first.turns, first.childTurns], ['paused', 1, 3])
    assert.equal(first.reason, { type: 'limit', limit: 'turns', allowed: 4, used: 4 })
    assert.equal(first.usage, usageOf(40, 8))
    assert.is(agent.spent.turns, 4)
    assert.is(ofType('tool.end').length, 0)
    const second = await agent.resume({ limits: { turns: 20 } }).result
    assert.equal([second.stopReason, second.text], ['stop', 'child looked 5 times'])
    assert.equal([second.turns, second.childTurns], [1, 3])
    assert.equal(second.usage, usageOf(40, 8))
    assert.equal([agent.spent.turns, agent.spent.usage], [8, usageOf(80, 16)])
    assert.is(new Set(looked).size, 5, 'nothing was done twice')
    assert.equal(
      ofType('tool.start').map(({ childId }) => childId),
      ['a1.1', 'a1.1'],
    )
    assert.equal(ofType('tool.end')[0]?.spent, { usage: usageOf(30, 6), costUsd: 0, turns: 3 })
    const log = await records()
    assert.equal(
      log.flatMap((record) => (record.type === 'run.end' ? [record.unfinished?.length] : [])),
      [1, undefined],
    )
  })

  it('does so as often as it takes, each time by the same allowance again', async (context) => {
    const { agent, looked } = await start(context, 5, { limits: { turns: 2 } })
    let result = await agent.prompt('go').result
    const turns = [[result.turns, result.childTurns]]
    while (result.stopReason === 'paused') {
      assert.ok(turns.length < 20)
      result = await agent.resume().result
      turns.push([result.turns, result.childTurns])
    }
    assert.is(result.text, 'child looked 5 times')
    assert.equal(turns, [
      [1, 1],
      [0, 2],
      [0, 2],
      [1, 1],
    ])
    assert.is(new Set(looked).size, 5)
    assert.is(agent.spent.turns, 8)
  })

  it('does so after its process died in the pause, or was closed', async (context) => {
    const inner = memoryStore()
    const store = { ...inner, close: async () => {} }
    const { agent, runtime, looked } = await start(context, 5, { limits: { turns: 4 }, store, check: false })
    await agent.prompt('go').result
    await runtime.close()
    const other = await createRuntime({ store })
    context.cleanup(() => other.close())
    const { definition } = lookout('child', 5)
    const root = defineAgent({ name: 'tester', model: leader('child'), agents: [definition], limits: { turns: 4 } })
    const resumed = await other.resume('a1', root)
    assert.is(resumed.pause?.type, 'limit')
    assert.is(resumed.spent.turns, 4)
    const result = await resumed.resume({ limits: { turns: 20 } }).result
    assert.equal([result.text, result.turns, result.childTurns], ['child looked 5 times', 1, 3])
    assert.equal([resumed.spent.turns, resumed.spent.usage], [8, usageOf(80, 16)])
    assert.is(looked.length, 3)
    const session = await loadSession(store, 'a1')
    assert.equal([session.usage, session.status], [usageOf(80, 16), 'completed'])
  })

  it('gives it up for a new prompt, which the model reads, and counts what it used once', async (context) => {
    const { agent, ofType } = await start(context, 5, { limits: { turns: 4 } })
    await agent.prompt('go').result
    const result = await agent.prompt('never mind').result
    assert.match(result.text, /^Skipped: the user said something new before the agent was done/)
    assert.equal([result.turns, result.childTurns, agent.spent.turns], [1, 0, 5])
    assert.is(ofType('tool.end')[0]?.message.synthetic, 'skipped')
  })

  it('gives it up for an abort', async (context) => {
    const { agent, ofType, untilState } = await start(context, 5, { limits: { turns: 4 } })
    await agent.prompt('go').result
    agent.abort()
    await untilState('idle')
    assert.is(ofType('tool.end')[0]?.message.synthetic, 'aborted')
    assert.is(agent.spent.turns, 4)
    assert.throws(() => agent.resume(), /is idle, and its last run has not failed/)
  })

  it('waits for the other calls of the reply first, and lets an abort count what was used', async (context) => {
    const open = Promise.withResolvers<string>()
    const { definition } = lookout('child', 5)
    const { agent, untilState, ofType } = await startAgent(context, {
      agents: [definition],
      tools: [tool('slow', () => open.promise)],
      limits: { turns: 4 },
      replies: [
        {
          toolCalls: [
            { name: 'child', input: { task: 'x' } },
            { name: 'slow', input: {} },
          ],
        },
        'done',
      ],
    })
    const run = agent.prompt('go')
    await untilState('executing')
    for (let i = 0; i < 20; i += 1) await quiet()
    assert.is(agent.state, 'executing')
    agent.abort()
    open.resolve('late')
    const result = await run.result
    assert.equal([result.stopReason, result.childTurns, agent.spent.turns], ['aborted', 3, 4])
    assert.equal(
      ofType('tool.end').map(({ spent }) => spent?.turns),
      [3, undefined],
    )
  })

  it('is answered with the last words of a sub-agent that was cut off, though nobody listens to it', async (context) => {
    const cutOff = policyModel(() => ({ text: 'Half of what I', stopReason: 'length', usage }))
    const talker = defineAgent({ name: 'talker', model: cutOff })
    const { agent } = await startAgent(context, { model: leader('talker'), agents: [talker] })
    assert.match((await agent.prompt('go').result).text, /Its last words were:\nHalf of what I$/)
  })

  it('is answered that it did not finish when the limit is the sub-agent’s own, or only its share', async (context) => {
    const { definition: own } = lookout('own', 5)
    const limited = defineAgent({ name: 'own', model: own.model, tools: [...own.tools.values()], limits: { turns: 2 } })
    const { agent } = await startAgent(context, { model: leader('own'), agents: [limited], limits: { turns: 5 } })
    assert.match((await agent.prompt('go').result).text, /^The agent "own" did not finish: its limit of 2 turns/)
    const both = await startAgent(context, { id: 'a3', model: leader('own'), agents: [limited], limits: { turns: 3 } })
    const paused = await both.agent.prompt('go').result
    assert.equal([paused.stopReason, both.ofType('tool.end').length], ['paused', 1], 'both limits at once')
    assert.match((await both.agent.resume().result).text, /^The agent "own" did not finish: its limit of 2 turns/)
    const { definition: long } = lookout('long', 9)
    const { definition: short } = lookout('short', 0)
    const shared = await startAgent(context, {
      id: 'a2',
      model: leader('long', 'short'),
      agents: [long, short],
      limits: { turns: 9 },
    })
    const { text, stopReason } = await shared.agent.prompt('go').result
    assert.is(stopReason, 'stop')
    assert.match(
      text,
      /^The agent "long" did not finish: its limit of 4 turns was reached[^/]*\/ short looked 0 times$/,
    )
  })
})
