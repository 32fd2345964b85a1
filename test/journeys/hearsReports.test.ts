import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { RequestMessage } from '../../src/protocol/ports/model.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, never, quiet, startAgent, usageOf, type HarnessOptions } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const usage = usageOf(10, 2)

const helperOf = (replies: readonly ScriptedReply[], name = 'helper'): AgentDefinition =>
  defineAgent({ name, model: scriptedModel(replies) })

const lastWords = (messages: readonly RequestMessage[]): string => textOf(messages.at(-1)!.content)

/** Calls these at once, and repeats what it is told from then on. */
const caller = (...names: readonly string[]) =>
  policyModel(({ messages }) => {
    if (lastWords(messages) === 'go')
      return { toolCalls: names.map((name) => ({ name, input: { task: 'look' } })), usage }
    return { text: `heard: ${lastWords(messages)}`, usage }
  })

const start = (context: CaseContext, helpers: readonly AgentDefinition[], options: HarnessOptions = {}) =>
  startAgent(context, {
    model: caller(...helpers.map(({ name }) => name)),
    agents: helpers.map((definition) => ({ definition, detach: 'report' as const })),
    ...options,
  })

const report = 'Report of a1.1, the agent "helper" that you called:\n\n'

describe('an agent that works on its own and reports', (it) => {
  it('wakes its idle caller with what came of it, once', async (context) => {
    const done = gate<string>()
    const { agent, ofType, runtime } = await start(context, [helperOf([() => done.promise])])
    const { text, childTurns } = await agent.prompt('go').result
    assert.match(text, /on its own, as a1\.1\. Its answer will come to you as a message; wait_for waits for it/)
    assert.equal([agent.state, childTurns], ['idle', 0])
    const [child] = runtime.agents().filter(({ id }) => id === 'a1.1')
    assert.equal([child?.path, agent.children()], [[], []])
    done.resolve('four')
    while (ofType('run.end').length < 2) await quiet()
    assert.equal(
      ofType('message.added').map(({ message }) => [textOf(message.content), message.provenance]),
      [
        ['go', undefined],
        [`${report}four`, { type: 'report', agentId: 'a1.1', name: 'helper', callId: 'call_0_0' }],
      ],
    )
    assert.is(textOf(agent.conversation.trunk().at(-1)!.message.content), `heard: ${report}four`)
  })

  it('is heard by a busy caller before its run ends', async (context) => {
    const done = gate<string>()
    const begun = gate()
    const model = scriptedModel([
      calls('c', ['helper', { task: 'look' }]),
      async () => {
        begun.resolve()
        await done.promise
        return 'it works'
      },
      'now I know',
    ])
    const { agent, ofType, runtime } = await start(context, [helperOf(['four'])], { model })
    const run = agent.prompt('go')
    await begun.promise
    await runtime.agent('a1.1')?.durable()
    while (!ofType('queue.changed').some(({ added }) => added !== undefined)) await quiet()
    done.resolve('')
    assert.is((await run.result).text, 'now I know')
    assert.equal([ofType('run.end').length, ofType('queue.changed').length], [1, 2])
    const said = model.requests.at(-1)!.messages.at(-1)!
    assert.is(textOf(said.content), `${report}four`)
  })

  it('says that it failed, was aborted or ran into its limit', async (context) => {
    const failing: ScriptedReply = { error: { kind: 'auth', message: 'no key' } }
    const look = defineAgent({
      name: 'short',
      model: policyModel(() => ({ toolCalls: [{ name: 'nothing', input: {} }], usage })),
      limits: { turns: 1 },
    })
    const helpers = [helperOf([failing], 'failing'), helperOf([() => never], 'slow'), look]
    const { agent, ofType, runtime } = await start(context, helpers)
    await agent.prompt('go').result
    while (runtime.agent('a1.2')?.state !== 'replying.requesting') await quiet()
    runtime.agent('a1.2')!.abort()
    const reported = () =>
      ofType('message.added')
        .map(({ message }) => textOf(message.content))
        .filter((text) => text.startsWith('Report'))
    while (reported().length < 3) await quiet()
    assert.equal(
      reported()
        .map((text) => text.split('\n').at(-1)!)
        .toSorted((a, b) => a.localeCompare(b)),
      [
        'The agent "failing" did not finish: no key (embedded:scripted). Check the API key, its permissions and the account\'s credit.',
        'The agent "short" did not finish: its limit of 1 turns was reached.',
        'The agent "slow" did not finish: it was aborted.',
      ],
    )
    while (agent.state !== 'idle') await quiet()
  })

  it('is not aborted with its caller, and an abort loses no report that waits', async (context) => {
    const busy = gate()
    const model = scriptedModel([
      calls('c', ['helper', { task: 'look' }]),
      () => {
        busy.resolve()
        return never
      },
      'heard',
    ])
    const { agent, ofType } = await start(context, [helperOf(['four'])], { model })
    const run = agent.prompt('go')
    await busy.promise
    while (!ofType('queue.changed').some(({ added }) => added !== undefined)) await quiet()
    agent.steer('and what I said is dropped')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.is((await agent.prompt('next').result).text, 'heard')
    assert.equal(
      model.requests
        .at(-1)!
        .messages.slice(-1)
        .map(({ content }) => textOf(content)),
      [`${report}fournext`],
    )
  })

  it('counts as alive until it has reported', async (context) => {
    const done = gate<string>()
    const helpers = [helperOf([() => done.promise]), helperOf(['b'], 'other')]
    const { agent, ofType } = await start(context, helpers, { maxChildren: 1 })
    await agent.prompt('go').result
    assert.equal(
      ofType('tool.end').map(({ message }) => message.synthetic),
      [undefined, 'refused'],
    )
    assert.is(agent.room, 0)
    done.resolve('four')
    while (ofType('run.end').length < 2) await quiet()
    assert.is(agent.room, 1)
  })

  it('is not awaited when its call was refused', async (context) => {
    const model = scriptedModel([calls('c', ['helper', {}]), 'oh'])
    const { agent } = await start(context, [helperOf([])], { model, maxChildren: 1 })
    assert.is((await agent.prompt('go').result).text, 'oh')
    assert.is(agent.room, 1)
  })
})
