import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { decide } from '../../packages/policies/src/decide.ts'
import { policy, type Trigger } from '../../src/actors/define/policy.ts'
import { when } from '../../packages/policies/src/when.ts'
import type { Model, ModelRequest } from '../../src/protocol/ports/model.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { gate, never, startAgent, tool } from '../support/agentHarness.ts'
import { Lives, types } from '../support/lives.ts'
import { assert, describe } from '../support/suite.ts'

const look = tool('look', () => 'seen '.repeat(60), { effects: 'none' })
const fromTurn3: Trigger = { name: 'turns', fires: ({ turn }) => (turn > 2 ? 'it is time' : null) }

/** Looks four times, then is done. */
const looking = (requests: ModelRequest[] = []): Model =>
  policyModel((request) => {
    requests.push(request)
    const looked = request.messages.filter(({ role }) => role === 'toolResult').length
    return looked < 4 && requests.length < 5 ? { toolCalls: [{ name: 'look', input: {} }] } : 'done'
  })

const reviewed = (model: Model, reviewer: Model): AgentDefinition => {
  const decider = decide.reviewer({ model: reviewer, keepSteps: 1 })
  const tidy = policy({ name: 'tidy', when: fromTurn3, decide: decider, retryTurns: 1 })
  return defineAgent({ name: 'tester', model, tools: [look], checkRequests: true, braking: { policies: [tidy] } })
}

const answer = JSON.stringify({ hide: ['n2'] })
/** Never answers; the promise resolves with the signal that it was given. */
const hanging = (): { readonly model: Model; readonly asked: Promise<AbortSignal> } => {
  const asked = gate<AbortSignal>()
  const model = scriptedModel([
    (_, { signal }) => {
      asked.resolve(signal)
      return never
    },
  ])
  return { model, asked: asked.promise }
}

describe('a reviewer whose process dies', (it) => {
  it('is gone; the agent goes on, and soon another reviews for it', async (context) => {
    const lives = new Lives(context)
    const { model, asked } = hanging()
    const first = await lives.begin(reviewed(looking(), model), 'go')
    await asked
    const logs = await first.logs()
    assert.equal(Object.keys(logs), ['a1'])
    assert.is(types(logs['a1']!).at(-1), 'policy.start')
    const requests: ModelRequest[] = []
    const second = await lives.resume(reviewed(looking(requests), scriptedModel([answer, answer, answer])), logs)
    for await (const event of second.agent.events()) if (event.type === 'run.end') break
    const later = (await second.logs())['a1']!
    const pruned = later.flatMap((record) => (record.type === 'prune.applied' ? [record.steps] : []))
    assert.equal(pruned[0], [2])
    assert.is(second.agent.state, 'idle')
    assert.match(JSON.stringify(requests.at(-1)!.messages), /brake-note kind=\\"memo\\" span=\\"n2\\"/)
  })
})

describe('a reviewer while nothing runs', (it) => {
  const rest = { tools: [look], checkRequests: true } as const

  it('tidies up in the background', async (context) => {
    const tidy = policy({
      name: 'tidy',
      when: when.whileIdle(),
      decide: decide.reviewer({ model: scriptedModel([answer]), keepSteps: 1 }),
    })
    const harness = await startAgent(context, { ...rest, model: looking(), braking: { policies: [tidy] } })
    await harness.agent.prompt('go').result
    await harness.until(({ type }) => type === 'prune.applied')
    assert.equal(harness.ofType('prune.applied')[0]!.steps, [2])
    assert.is(harness.agent.state, 'idle')
  })

  it('is aborted by a message, which is answered', async (context) => {
    const { model, asked } = hanging()
    const tidy = policy({ name: 'tidy', when: when.whileIdle(), decide: decide.reviewer({ model, keepSteps: 1 }) })
    const harness = await startAgent(context, { ...rest, model: looking(), braking: { policies: [tidy] } })
    await harness.agent.prompt('go').result
    const signal = await asked
    assert.is((await harness.agent.prompt('and?').result).text, 'done')
    assert.ok(signal.aborted)
    assert.equal(harness.ofType('policy.end').map(({ outcome, reason }) => [outcome, reason])[0], [
      'failed',
      'a message came first',
    ])
  })
})
