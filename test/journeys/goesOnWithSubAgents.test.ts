import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, quiet, startAgent, tool, usageOf, withCode, type Harness } from '../support/agentHarness.ts'
import { checkLog } from '../support/journeyRules.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

const usage = usageOf(10, 2)

/** Says which tasks it was given so far. */
const rememberer = defineAgent({
  name: 'helper',
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    if (last.role === 'user') return { toolCalls: [{ name: 'look', input: {} }], usage }
    const tasks = messages.flatMap(({ role, content }) => (role === 'user' ? [textOf(content)] : []))
    return { text: `tasks: ${tasks.join(', ')}`, usage }
  }),
  tools: [tool('look', () => 'seen', { effects: 'none' })],
})
const agents = [{ definition: rememberer, continuable: true }]
const call = (id: string, task: string, more: object = {}) => calls(id, ['helper', { task, ...more }])
const named = (id: string): string => `\n\nThis was ${id}: give its id as "continue" to go on with it.`

const results = ({ ofType }: Harness): string[] => ofType('tool.end').map(({ message }) => textOf(message.content))
const errors = ({ ofType }: Harness): boolean[] => ofType('tool.end').map(({ message }) => message.isError)

describe('a call that goes on with an earlier sub-agent', (it) => {
  it('prompts that one, which remembers; what it used is counted once', async (context) => {
    const replies = [
      call('c', 'one'),
      call('d', 'two', { continue: 'a1.1' }),
      call('e', 'three', { continue: '' }),
      'done',
    ]
    const harness = await startAgent(context, { replies, agents })
    const result = await harness.agent.prompt('go').result
    assert.equal(results(harness), [
      `tasks: one${named('a1.1')}`,
      `tasks: one, two${named('a1.1')}`,
      `tasks: three${named('a1.2')}`,
    ])
    assert.equal(
      harness.ofType('tool.end').map(({ spent }) => spent?.turns),
      [2, 2, 2],
    )
    assert.is(result.childTurns, 6)
    assert.equal(harness.agent.children(), [])
  })

  it('is told of those that there are when there is none of that id', async (context) => {
    const other = defineAgent({ name: 'other', model: scriptedModel(['hm']) })
    const replies = [
      calls('c', ['helper', { task: 'one' }], ['other', { task: 'x' }]),
      call('d', 'two', { continue: 'a1.7' }),
      call('e', 'two', { continue: 'b1.1' }),
      call('f', 'two', { continue: 'a1.2' }),
      'done',
    ]
    const harness = await startAgent(context, {
      replies,
      agents: [...agents, { definition: other, continuable: true }],
    })
    await harness.agent.prompt('go').result
    assert.equal(errors(harness), [false, false, true, true, true])
    for (const [index, id] of [
      [2, 'a1.7'],
      [3, 'b1.1'],
      [4, 'a1.2'],
    ] as const)
      assert.is(
        results(harness)[index]!.replaceAll(/a1\.[34] \("two"\), |, a1\.[34] \("two"\)/g, ''),
        `There is no agent "helper" with the id "${id}" to go on with. Those that you called before: a1.1 ("one"). Leave "continue" out for a new one.`,
      )
  })

  it('is refused while another call of the reply is at work with it', async (context) => {
    const both = calls(
      'd',
      ['helper', { task: 'two', continue: 'a1.1' }],
      ['helper', { task: 'three', continue: 'a1.1' }],
    )
    const harness = await startAgent(context, { replies: [call('c', 'one'), both, 'done'], agents })
    await harness.agent.prompt('go').result
    assert.equal(results(harness), [
      `tasks: one${named('a1.1')}`,
      'No sub-agent was started: a1.1 is at work on another call.',
      `tasks: one, two${named('a1.1')}`,
    ])
  })

  it('goes on with one that ran into its limit', async (context) => {
    const short = defineAgent({
      name: 'helper',
      model: scriptedModel([calls('x', 'nothing'), 'now I have it']),
      limits: { turns: 1 },
    })
    const replies = [call('c', 'one'), call('d', 'two', { continue: 'a1.1' }), 'done']
    const harness = await startAgent(context, { replies, agents: [{ definition: short, continuable: true }] })
    await harness.agent.prompt('go').result
    assert.match(results(harness)[0]!, 'did not finish: its limit of 1 turns was reached')
    assert.is(results(harness)[1], `now I have it${named('a1.1')}`)
  })

  it('is offered only where it was asked for', () => {
    const specs = (continuable: boolean) =>
      defineAgent({ name: 'a', model: scriptedModel([]), agents: [{ definition: rememberer, continuable }] }).toolSpecs
    assert.equal(Object.keys(specs(false)[0]!.inputSchema['properties'] as object), ['task'])
    assert.equal(Object.keys(specs(true)[0]!.inputSchema['properties'] as object), ['task', 'continue'])
    for (const detach of [true, 'report'] as const)
      assert.throws(
        () =>
          defineAgent({
            name: 'a',
            model: scriptedModel([]),
            agents: [{ definition: rememberer, continuable: true, detach }],
          }),
        withCode('INVALID_DEFINITION', 'continuable', 'detached'),
      )
  })
})

/** Calls the helper twice, the second time to go on. */
const caller = defineAgent({
  name: 'caller',
  agents,
  model: policyModel(({ messages }) => {
    const heard = messages.filter(({ role }) => role === 'toolResult').map(({ content }) => textOf(content))
    if (heard.length === 0) return { toolCalls: [{ name: 'helper', input: { task: 'one' } }], usage }
    if (heard.length === 1) return { toolCalls: [{ name: 'helper', input: { task: 'two', continue: 'c1.1' } }], usage }
    return { text: heard.at(-1)!, usage }
  }),
})

async function live(context: Pick<CaseContext, 'cleanup'>, logs: { readonly [id: string]: readonly LogRecord[] }) {
  const { runtime, store } = await runtimeOver(context, logs)
  return { runtime, store, agent: await runtime.open('c1', caller) }
}

const whole = await live({ cleanup: () => {} }, {})
await whole.agent.prompt('go').result
const spentInAll = whole.agent.spent
await whole.runtime.close()
const [mine, its] = [await recordsOf(whole.store, 'c1'), await recordsOf(whole.store, 'c1.1')]

describe('a call that goes on with an earlier sub-agent, after a crash', (it) => {
  const starts = mine.flatMap((record, index) => (record.type === 'tool.start' ? [index] : []))
  const ends = mine.flatMap((record, index) => (record.type === 'tool.end' ? [index] : []))
  const secondRun = its.findLastIndex(({ type }) => type === 'run.start')
  for (let left = starts[1]! + 1; left <= ends[1]!; left += 1)
    for (let itsLeft = secondRun; itsLeft <= its.length; itsLeft += 1)
      it(`comes to the same end from ${left} records of the caller and ${itsLeft} of its helper`, async (context) => {
        const { runtime, store, agent } = await live(context, {
          c1: mine.slice(0, left),
          'c1.1': its.slice(0, itsLeft),
        })
        while (runtime.agents().some(({ state }) => state !== 'idle')) await quiet()
        assert.is(textOf(agent.conversation.trunk().at(-1)!.message.content), `tasks: one, two${named('c1.1')}`)
        assert.equal(checkLog(await recordsOf(store, 'c1.1'), { isWhole: false }), [])
        const tasks = (await recordsOf(store, 'c1.1')).filter(({ type }) => type === 'message.added')
        assert.is(tasks.length, 2)
        if (itsLeft === its.length) assert.equal(agent.spent, spentInAll)
      })
})
