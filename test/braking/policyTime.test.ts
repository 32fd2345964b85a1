import type { Consultation, Policy, PolicyOptions } from '../../src/actors/define/policy.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, quiet } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { look, looker as lookerWith, made as madeInTurn2 } from './policyLookers.ts'

/** With half a second, in the second turn. */
const made = (options: Partial<PolicyOptions>) =>
  madeInTurn2({ timeoutMs: 500, decide: { name: 'd', decide: () => null }, ...options })

/** An agent that looks three times, then is done. */
const looker = (context: Pick<CaseContext, 'cleanup'>, ...policies: readonly Policy[]) =>
  lookerWith(context, { policies })

describe('the time of a policy', (it) => {
  for (const part of ['when', 'decide'] as const)
    it(`goes no further once it has taken too long: ${part}`, async (context) => {
      const late = Promise.withResolvers<void>()
      const went: string[] = []
      const slow = made({
        when: {
          name: 'w',
          fires: async ({ turn }) => (part === 'when' ? (await late.promise, 'due') : turn === 2 ? 'due' : null),
        },
        decide: { name: 'd', decide: async () => (went.push('decide'), await late.promise, { hide: ['n2'] }) },
        keep: { name: 'k', keep: () => (went.push('keep'), { as: 'memo' }) },
      })
      const harness = await looker(context, slow)
      const run = harness.agent.prompt('go')
      await harness.untilState('draining.consulting')
      if (part === 'decide') await harness.until(({ type }) => type === 'policy.start')
      await harness.clock.advance(500)
      await harness.until(({ type }) => type === 'policy.end')
      late.resolve()
      await quiet()
      await run.result
      assert.equal(went, part === 'when' ? [] : ['decide'])
    })

  it('is paid for when its agent takes too long', async (context) => {
    const model = scriptedModel([
      { ...(calls('r', 'look') as object), usage: { ...noUsage, input: 300, output: 20 } },
      () => new Promise<never>(() => {}),
    ])
    const reviewer = defineAgent({ name: 'reviewer', model, tools: [look], pricing: { input: 1, output: 1 } })
    const runs = made({
      decide: { name: 'runs', decide: async (at) => ({ hide: [(await at.run(reviewer, 'which?')).text] }) },
    })
    const harness = await looker(context, runs)
    const run = harness.agent.prompt('go')
    await harness.until(({ type }) => type === 'policy.start')
    while (model.requests.length < 2) await quiet()
    await harness.clock.advance(500)
    const { costUsd } = await run.result
    const [end] = harness.ofType('policy.end')
    assert.equal([end!.outcome, end!.usage?.input, end!.costUsd, costUsd], ['failed', 300, 0.00032, 0.00032])
  })
})

describe('a trigger that asks a model', (it) => {
  it('is paid for when it does not fire, and others are asked after it', async (context) => {
    const model = scriptedModel([{ text: '5', usage: { ...noUsage, input: 300, output: 20 } }])
    const when = {
      name: 'asks',
      fires: async (at: Consultation) =>
        at.turn === 2 ? ((await at.ask({ model, system: 's', text: 't' })) === '5' ? null : 'low') : null,
    }
    const asked: number[] = []
    const other = made({ name: 'other', decide: { name: 'd', decide: ({ turn }) => (asked.push(turn), null) } })
    const harness = await looker(context, made({ when }), other)
    const { usage } = await harness.agent.prompt('go').result
    const replies = harness.ofType('reply.end').reduce((sum, { message }) => sum + message.usage.input, 0)
    assert.equal([usage.input - replies, asked], [300, [2]])
    assert.equal(
      harness.ofType('policy.end').map(({ policy: name, outcome, reason }) => [name, outcome, reason]),
      [
        ['tidy', 'nothing', 'it did not fire'],
        ['other', 'nothing', undefined],
      ],
    )
  })
})

describe('a plan with a revert and a note', (it) => {
  it('is nonsense, as the note would stand on a step that goes', async (context) => {
    const plan = { note: 'look again', revert: { step: 'n1', category: 'failure' } } as const
    const harness = await looker(context, made({ decide: { name: 'both', decide: () => plan } }))
    await harness.agent.prompt('go').result
    assert.match(harness.ofType('policy.end')[0]!.reason!, /both answered nonsense: .* say it in the summary/)
    assert.equal(harness.ofType('revert.requested'), [])
  })
})
