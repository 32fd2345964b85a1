import type { PolicyOptions } from '../../src/actors/define/policy.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { sessionOf } from '../../packages/sessions/src/sessionProjection.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { startAgent, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { ends, looker, made } from './policyLookers.ts'

describe('a policy asked for by name', (it) => {
  it('is asked at rest whatever its trigger says, and answers the request', async (context) => {
    const harness = await looker(context, { policies: [made({ when: { name: 'never', fires: () => null } })] })
    await harness.agent.prompt('go').result
    assert.equal(harness.ofType('policy.start'), [])
    harness.agent.brake('tidy')
    await harness.until(({ type }) => type === 'prune.applied')
    const [{ request }] = harness.ofType('policy.requested') as [
      ReturnType<typeof harness.ofType<'policy.requested'>>[0],
    ]
    assert.is(harness.ofType('policy.end')[0]!.requestId, request.id)
    assert.is(harness.agent.state, 'idle')
  })

  it('is refused without policies, and when there is none of the name', async (context) => {
    const { agent } = await looker(context, { policies: [made()] })
    assert.throws(() => agent.brake('untidy'), withCode('POLICY_NOT_FOUND'))
    const { agent: unbraked } = await startAgent(context, { id: 'b1', replies: ['hello'] })
    assert.throws(() => unbraked.brake('tidy'), withCode('BRAKING_OFF'))
  })
})

describe('a policy for when nothing runs', (it) => {
  const resting = (decide: PolicyOptions['decide']['decide']) =>
    made({
      when: { name: 'rest', atRest: true, fires: ({ isAtRest }) => (isAtRest ? 'at rest' : null) },
      decide: { name: 'd', decide },
    })

  it('is asked once each time the agent comes to rest', async (context) => {
    const asked: boolean[] = []
    const harness = await looker(context, {
      policies: [resting(({ isAtRest }) => (asked.push(isAtRest), { hide: ['n2'], memo: 'm' }))],
    })
    await harness.agent.prompt('go').result
    await harness.until(({ type }) => type === 'prune.applied')
    assert.equal([asked, harness.agent.state], [[true], 'idle'])
  })

  it('leaves alone those that are not for it', async (context) => {
    const asked: string[] = []
    const busy = made({
      name: 'busy',
      when: { name: 'busy', fires: ({ isAtRest }) => (asked.push(`busy ${isAtRest}`), null) },
    })
    const harness = await looker(context, {
      policies: [busy, resting(({ isAtRest }) => (asked.push(`rest ${isAtRest}`), { hide: ['n2'], memo: 'm' }))],
    })
    await harness.agent.prompt('go').result
    await harness.until(({ type }) => type === 'prune.applied')
    assert.equal(asked, [...Array.from({ length: 4 }, () => 'busy false'), 'rest true'])
  })

  it('is paid for, though there is no run', async (context) => {
    const model = scriptedModel([{ text: 'm', usage: { ...noUsage, input: 300, output: 20 } }])
    const harness = await looker(context, {
      policies: [resting(async (at) => ({ hide: ['n2'], memo: await at.ask({ model, system: 's', text: 't' }) }))],
    })
    const { usage } = await harness.agent.prompt('go').result
    await harness.until(({ type }) => type === 'prune.applied')
    assert.is(harness.agent.spent.usage.input, usage.input + 300)
    assert.is(sessionOf(await harness.records()).usage.input, usage.input + 300)
  })

  it('gives way to a message', async (context) => {
    const harness = await looker(
      context,
      { policies: [resting(() => new Promise<never>(() => {}))] },
      { replies: ['one', 'two'] },
    )
    await harness.agent.prompt('go').result
    await harness.until(({ type }) => type === 'policy.start')
    const { text } = await harness.agent.prompt('more').result
    assert.is(text, 'two')
    assert.equal(ends(harness)[0], ['tidy', 'failed', 'a message came first'])
  })
})
