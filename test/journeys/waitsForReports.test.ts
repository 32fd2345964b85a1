import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, never, quiet, startAgent, usageOf, type Harness } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const usage = usageOf(10, 2)
const task = { task: 'look' }

const helper = (name: string, replies: readonly ScriptedReply[]) => defineAgent({ name, model: scriptedModel(replies) })

async function start(context: CaseContext, replies: readonly ScriptedReply[], helpers: readonly ScriptedReply[]) {
  const model = scriptedModel(replies)
  const agents = helpers.map((reply, index) => ({
    definition: helper(`helper${index + 1}`, [reply]),
    detach: 'report' as const,
  }))
  return { ...(await startAgent(context, { model, agents })), model }
}

const resultsOf = ({ ofType }: Harness): (readonly [string, readonly string[] | undefined])[] =>
  ofType('tool.end')
    .filter(({ name }) => name === 'wait_for')
    .map(({ message, delivers }) => [textOf(message.content), delivers])

const isWaiting = ({ ofType }: Harness): boolean => ofType('tool.start').some(({ name }) => name === 'wait_for')
const reportOf = (id: number, text: string): string =>
  `Report of a1.${id}, the agent "helper${id}" that you called:\n\n${text}`

describe('wait_for', (it) => {
  it('is offered only to an agent with one that reports', async () => {
    const child = helper('child', [])
    for (const detach of [false, true]) {
      const { toolSpecs, policy } = defineAgent({
        name: 'a',
        model: scriptedModel([]),
        agents: [{ definition: child, detach }],
      })
      assert.equal([toolSpecs.map(({ name }) => name), policy.reports], [['child'], []])
    }
    for (const agents of [
      [{ definition: child, detach: 'report' as const }],
      () => [{ definition: child, detach: 'report' as const }],
    ]) {
      const { toolSpecs, policy } = defineAgent({ name: 'a', model: scriptedModel([]), agents })
      assert.equal([toolSpecs.map(({ name }) => name), policy.reports], [['wait_for', 'child'], ['child']])
    }
  })

  it('returns what all have reported, and nothing of it is said again', async (context) => {
    const slow = gate<string>()
    const replies = [calls('c', ['helper1', task], ['helper2', task]), calls('w', 'wait_for'), 'done']
    const harness = await start(context, replies, ['one', () => slow.promise])
    const run = harness.agent.prompt('go')
    while (!isWaiting(harness)) await quiet()
    slow.resolve('two')
    assert.is((await run.result).text, 'done')
    const ids = ['c0', 'c1'].map((callId) => `a1/t0/tool/${callId}/report`)
    assert.equal(resultsOf(harness), [[`${reportOf(1, 'one')}\n\n${reportOf(2, 'two')}`, ids]])
    assert.equal(
      harness.ofType('message.added').map(({ message }) => textOf(message.content)),
      ['go'],
    )
    assert.equal(harness.ofType('queue.changed').at(-1)?.length, 0)
  })

  it('waits for those that are named, and leaves the reports of others for later', async (context) => {
    const slow = gate<string>()
    const first = calls('c', ['helper1', task], ['helper2', task])
    const wait = calls('w', ['wait_for', { agents: ['a1.2'] }])
    const harness = await start(context, [first, wait, 'done', 'and the other'], ['one', () => slow.promise])
    const run = harness.agent.prompt('go')
    while (!isWaiting(harness)) await quiet()
    slow.resolve('two')
    assert.is((await run.result).text, 'and the other')
    assert.equal(resultsOf(harness)[0]![0], reportOf(2, 'two'))
    assert.equal(
      harness.ofType('message.added').map(({ message }) => textOf(message.content)),
      ['go', reportOf(1, 'one')],
    )
  })

  it('says who is at work when the time is up, and again at once when nobody is', async (context) => {
    const slow = gate<string>()
    const replies = [
      calls('c', ['helper1', task]),
      calls('w', ['wait_for', { seconds: 5 }]),
      calls('x', ['wait_for', { agents: ['a1.7'] }]),
      'done',
      calls('y', 'wait_for'),
      'over',
    ]
    const harness = await start(context, replies, [() => slow.promise])
    const run = harness.agent.prompt('go')
    while (!isWaiting(harness)) await quiet()
    await harness.clock.advance(5_000)
    await run.result
    slow.resolve('one')
    while (harness.ofType('run.end').length < 2) await quiet()
    assert.equal(
      resultsOf(harness).map(([text]) => text),
      [
        'Still at work: a1.1 (helper1).',
        'a1.7: not at work for you, or reported before. Those that are: a1.1 (helper1). No other is at work for you.',
        'No agent is at work for you, and none has reported since.',
      ],
    )
  })

  it('ends early when somebody speaks to the agent, and when it is aborted', async (context) => {
    const replies = [calls('c', ['helper1', task]), calls('w', 'wait_for'), calls('x', 'wait_for')]
    const harness = await start(context, replies, [() => never])
    const run = harness.agent.prompt('go')
    while (!isWaiting(harness)) await quiet()
    harness.agent.steer('how far are you?')
    while (harness.ofType('tool.start').length < 3) await quiet()
    assert.match(resultsOf(harness)[0]![0], /^Somebody has spoken to you.*\n\nStill at work: a1\.1/)
    harness.agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    // It is still at work.
    await harness.runtime.agent('a1.1')?.stop()
  })

  it('is no stall: neither for who watches the caller nor for loops', async (context) => {
    const slow = gate<string>()
    const middle = defineAgent({
      name: 'middle',
      model: scriptedModel([calls('c', ['helper', task]), calls('w', 'wait_for'), 'told']),
      agents: [{ definition: helper('helper', [() => slow.promise]), detach: 'report' }],
      braking: { stall: true },
    })
    assert.equal(middle.policy.polling, ['wait_for'])
    const { agent, clock } = await startAgent(context, {
      model: policyModel(({ messages }) =>
        messages.length > 1
          ? { text: textOf(messages.at(-1)!.content), usage }
          : { toolCalls: [{ name: 'middle', input: task }], usage },
      ),
      agents: [{ definition: middle, stallMs: 1_000, restart: 'never' }],
    })
    const heard: string[] = []
    agent.subscribe((event) => heard.push(event.type === 'tool.start' ? event.name : event.type), { descendants: true })
    const run = agent.prompt('go')
    while (!heard.includes('wait_for')) await quiet()
    await clock.advance(10_000)
    slow.resolve('at last')
    assert.is((await run.result).text, 'told')
    assert.not(heard.includes('error'))
  })
})
