import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { parallel } from '../../packages/groups/src/parallel.ts'
import { pipeline } from '../../packages/groups/src/pipeline.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import { calls, resultsOf, startAgent, tool, usageOf, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const transfer = (id: string, to: string): ScriptedReply => calls(id, `transfer_to_${to}`)

/** An agent with a tool of its own, that plays this script. */
function specialist(name: string, replies: readonly ScriptedReply[]) {
  const model = scriptedModel(replies)
  const tools = [tool(`${name}_tool`, () => `${name} did it`)]
  return {
    definition: defineAgent({ name, model, instructions: `You are ${name}.`, description: `Knows ${name}.`, tools }),
    model,
  }
}

describe('a handoff', (it) => {
  it('has the other answer in the same run, with all that was said, its own model, instructions and tools', async (context) => {
    const billing = specialist('billing', [calls('b', 'billing_tool'), 'paid', 'and paid again'])
    const { agent, ofType, script } = await startAgent(context, {
      replies: [transfer('t', 'billing')],
      instructions: 'Sort out who knows.',
      handoffs: [billing.definition],
    })
    assert.is(agent.active, 'tester')
    const result = await agent.prompt('I want to pay').result
    assert.equal([result.stopReason, result.text, result.turns], ['stop', 'paid', 3])
    assert.equal([agent.active, agent.definition], ['billing', 'tester'])
    assert.equal(
      ofType('tool.end').map(({ name, handoff }) => [name, handoff]),
      [
        ['transfer_to_billing', 'billing'],
        ['billing_tool', undefined],
      ],
    )
    const [first] = script.requests
    assert.equal(
      first!.tools.map(({ name }) => name),
      ['transfer_to_billing'],
    )
    const [request] = billing.model.requests
    assert.equal([request!.system, request!.tools.map(({ name }) => name)], ['You are billing.', ['billing_tool']])
    assert.equal(
      request!.messages.map(({ role, content }) => [role, textOf(content)]),
      [
        ['user', 'I want to pay'],
        ['assistant', ''],
        ['toolResult', 'You are "billing" now: the conversation was handed over to you. Answer the user.'],
      ],
    )
    assert.is((await agent.prompt('once more').result).text, 'and paid again')
    assert.equal(
      ofType('run.start').map(({ model }) => model?.id),
      [script.id, billing.model.id],
    )
  })

  it('may be handed back, and to agents that are defined later', async (context) => {
    const usage = usageOf(1, 1)
    const triage: AgentDefinition = defineAgent({
      name: 'triage',
      model: policyModel(({ messages }) =>
        messages.length === 1
          ? { toolCalls: [{ name: 'transfer_to_billing', input: {} }], usage }
          : { text: 'bye', usage },
      ),
      handoffs: [() => billing],
    })
    const billing: AgentDefinition = defineAgent({
      name: 'billing',
      model: scriptedModel([transfer('b', 'triage')]),
      handoffs: [triage],
    })
    const { runtime } = await startAgent(context)
    const agent = await runtime.spawn(triage, { id: 't1' })
    assert.equal([(await agent.prompt('go').result).text, agent.active], ['bye', 'triage'])
    await agent.stop()
  })

  it('is refused after ten of them, and the second in a reply', async (context) => {
    const usage = usageOf(1, 1)
    const toAndFro = (to: string) =>
      policyModel(({ messages }) => {
        const last = messages.at(-1)!
        if (textOf(last.content).startsWith('Not handed over')) return { text: textOf(last.content), usage }
        return { toolCalls: [{ name: `transfer_to_${to}`, input: {} }], usage }
      })
    const one: AgentDefinition = defineAgent({ name: 'one', model: toAndFro('two'), handoffs: [() => two] })
    const two: AgentDefinition = defineAgent({ name: 'two', model: toAndFro('one'), handoffs: [one] })
    const { runtime } = await startAgent(context)
    const agent = await runtime.spawn(one, { id: 't1' })
    const { text, turns } = await agent.prompt('go').result
    assert.equal([turns, agent.active], [12, 'one'])
    assert.match(text, /^Not handed over: it went from one to another 10 times/)
    await agent.stop()

    const a = specialist('a', ['I am a'])
    const b = specialist('b', [])
    const harness = await startAgent(context, {
      id: 'a2',
      replies: [calls('t', 'transfer_to_a', 'transfer_to_b')],
      handoffs: [a.definition, b.definition],
    })
    assert.equal([(await harness.agent.prompt('go').result).text, harness.agent.active], ['I am a', 'a'])
    assert.equal(
      harness.ofType('tool.end').map(({ message, handoff }) => [message.isError, handoff]),
      [
        [false, 'a'],
        [true, undefined],
      ],
    )
  })

  it('keeps the limits of the run, and an abort leaves who answers', async (context) => {
    const billing = specialist('billing', [calls('b', 'billing_tool'), 'never said', 'now'])
    const { agent } = await startAgent(context, {
      replies: [transfer('t', 'billing')],
      handoffs: [billing.definition],
      limits: { turns: 2 },
    })
    assert.equal([(await agent.prompt('go').result).stopReason, agent.active], ['paused', 'billing'])
    agent.abort()
    assert.equal([(await agent.prompt('again').result).text, agent.active], ['never said', 'billing'])
  })

  it('of a sub-agent or in a group gives its caller the last answer', async (context) => {
    const expert = (answer: string) => specialist('expert', [answer]).definition
    const branch = (answer: string) =>
      defineAgent({ name: 'branch', model: scriptedModel([transfer('t', 'expert')]), handoffs: [expert(answer)] })
    const { agent, ofType } = await startAgent(context, {
      replies: [calls('c', ['branch', { task: 'x' }]), 'thanks'],
      agents: [branch('from a call')],
    })
    await agent.prompt('go').result
    assert.is(textOf(ofType('tool.end')[0]!.message.content), 'from a call')
    const { branches } = await parallel(agent, [branch('one'), branch('two')], 'go')
    assert.equal(
      branches.map(({ result, definition }) => [definition, result.text]),
      [
        ['branch', 'one'],
        ['branch', 'two'],
      ],
    )
    const { text } = await pipeline(agent, [branch('first'), branch('second')], 'go')
    assert.is(text, 'second')
  })

  it('keeps the brakes of the conversation, and those of the other stay out', async (context) => {
    const billing = defineAgent({ name: 'billing', model: scriptedModel(['hm']), braking: { prune: true } })
    const { agent, until } = await startAgent(context, {
      replies: [transfer('t', 'billing')],
      handoffs: [billing],
      braking: { revert: true },
    })
    await agent.prompt('go').result
    const { requests } = billing.model as ReturnType<typeof scriptedModel>
    assert.equal(
      requests[0]!.tools.map(({ name }) => name),
      ['revert_to_state'],
    )
    assert.equal([agent.braking.revert, agent.active], [true, 'billing'])
    agent.revert('n1', { category: 'failure', summary: 'It was the wrong one.' })
    const reverted = await until(({ type }) => type === 'revert.applied')
    assert.ok(reverted.type === 'revert.applied' && reverted.applied)
  })

  it('brings the sub-agents of the other', async (context) => {
    const clerk = defineAgent({ name: 'clerk', model: scriptedModel(['found it']) })
    const billing = defineAgent({
      name: 'billing',
      model: scriptedModel([calls('b', ['clerk', { task: 'look' }]), 'done']),
      agents: [clerk],
    })
    const { agent, ofType } = await startAgent(context, { replies: [transfer('t', 'billing')], handoffs: [billing] })
    assert.equal([(await agent.prompt('go').result).childTurns, ofType('tool.start').at(-1)?.childId], [1, 'a1.1'])
  })

  it('ends what the agent was told to use, and is refused to one whose deps are missing', async (context) => {
    const needs = defineAgent({ name: 'needs', model: scriptedModel([]), deps: z.object({ shop: z.string() }) })
    const billing = specialist('billing', [calls('b', 'billing_tool'), 'paid'])
    const { agent, script } = await startAgent(context, {
      replies: [transfer('n', 'needs'), transfer('t', 'billing')],
      handoffs: [billing.definition, needs],
    })
    agent.use({ tools: ['transfer_to_billing', 'transfer_to_needs'], instructions: 'Be quick.' })
    assert.is((await agent.prompt('go').result).text, 'paid')
    assert.equal(resultsOf(script.requests[1]), [
      'Not handed over: "needs" needs deps, and those of this run do not fit them.',
    ])
    assert.is(script.requests[1]!.system, 'Be quick.')
    assert.equal(
      billing.model.requests.map(({ system, tools }) => [system, tools.map(({ name }) => name)]),
      [
        ['You are billing.', ['billing_tool']],
        ['You are billing.', ['billing_tool']],
      ],
    )
    assert.equal(resultsOf(billing.model.requests[1]).at(-1), 'billing did it')
    assert.is(agent.inUse, null)
    agent.use({ instructions: 'Be slow.' })
    assert.equal(agent.inUse, { instructions: 'Be slow.' })
  })

  it('brings the guards of the other, and leaves its own', async (context) => {
    const pass = (): { ok: true } => ({ ok: true })
    const noPins = ({ text }: { text: string }): { ok: true } | { refuse: string } =>
      text.includes('pin') ? { refuse: 'a pin' } : { ok: true }
    const model = () => scriptedModel(['the pin is 1', 'never said'])
    const guarded = defineAgent({ name: 'billing', model: model(), guards: { input: [noPins], output: [noPins] } })
    const replies = [transfer('t', 'billing')]
    const { agent, ofType } = await startAgent(context, { replies, handoffs: [guarded] })
    const answered = await agent.prompt('go').result
    const said = await agent.prompt('my pin').result
    const refused = (at: 'input' | 'output') => ({ at, guard: 'noPins', reason: 'a pin.' })
    assert.ok(answered.stopReason === 'refusal' && said.stopReason === 'refusal')
    assert.equal([answered.refusal, said.refusal], [refused('output'), refused('input')])
    assert.equal(
      ofType('guard.decided').map(({ at, decision }) => [at, decision]),
      [
        ['input', 'passed'],
        ['output', 'refused'],
        ['input', 'refused'],
      ],
    )
    const free = defineAgent({ name: 'billing', model: scriptedModel(['free', 'still free']) })
    const other = await startAgent(context, { replies, handoffs: [free], guards: { input: [pass], output: [pass] } })
    assert.is((await other.agent.prompt('go').result).text, 'free')
    assert.is((await other.agent.prompt('more').result).text, 'still free')
    assert.is(other.ofType('guard.decided').length, 1)
  })

  it('is refused as a definition where it cannot be', () => {
    const model = scriptedModel([])
    const a = specialist('a', []).definition
    const long = defineAgent({ name: 'n'.repeat(60), model })
    for (const [handoffs, word] of [
      [[a, a], 'two agents'],
      [[long], 'too long'],
    ] as const)
      assert.throws(() => defineAgent({ name: 'x', model, handoffs }).tools, withCode('INVALID_DEFINITION', word))
    for (const handoffs of [['a'], [{}], 'a'])
      assert.throws(
        () => defineAgent({ name: 'x', model, handoffs } as never),
        withCode('INVALID_DEFINITION', 'handoffs'),
      )
    const named = defineAgent({ name: 'x', model, handoffs: [() => 'a' as never] })
    assert.throws(() => named.tools, withCode('INVALID_DEFINITION', 'handoffs'))
  })
})
