import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policy } from '../../src/actors/define/policy.ts'
import { restoring } from '../support/restoring.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { restoreInput } from '../../src/runtime/agents/restoreInput.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'
import { consulted } from './consultations.ts'

const off = { revert: false, prune: false, fold: false, stall: false, policies: false, compact: false }
const on = { ...off, policies: true, prune: true, revert: true }
const atRest = { names: ['tidy', 'review'], atRest: true }

/** In the drain after a step of one call. */
function drainingAgent(more: ConstructorParameters<typeof AgentScript>[0] = {}): AgentScript {
  const script = new AgentScript({ flags: on, ...more })
  script.prompt('go')
  script.reply({ calls: ['c1'] })
  script.finishCall('c1')
  return script
}

const inputOf = (script: AgentScript) => script.driver.child('consultPolicies').input
const endsOf = (script: AgentScript) =>
  script.driver.recordsOf('policy.end').map(({ policy: name, outcome, reason }) => [name, outcome, reason])

describe('the policies of an agent', (it) => {
  it('are asked after every turn, the last too, and not without the flag', () => {
    const script = drainingAgent()
    assert.is(script.state, 'draining.consulting')
    script.consult()
    script.reply()
    assert.is(script.state, 'draining.consulting')
    script.consult()
    assert.is(script.state, 'idle')
    assert.is(drainingAgent({ flags: off }).state, 'replying.requesting')
  })

  it('are not asked by a run that has used up what it may', () => {
    const script = drainingAgent({ limits: { turns: 1 } })
    assert.is(script.state, 'paused')
    assert.equal(
      script.types().filter((type) => type.startsWith('policy')),
      [],
    )
  })

  it('leave no record when none fires', () => {
    const script = drainingAgent()
    const before = script.driver.records.length
    script.consult()
    assert.equal(script.types(before), ['turn.end', 'turn.start'])
  })

  it('are asked one at a time: the next comes once the plan of the last is carried out', () => {
    const script = drainingAgent()
    script.consult({ steps: [2] })
    assert.is(script.state, 'draining.prunes')
    script.drain('drainPrunes')
    assert.is(script.state, 'draining.consulting')
    assert.is(inputOf(script).from, 1)
    script.consult({ policy: 'review', steps: [2] })
    script.drain('drainPrunes')
    assert.is(script.state, 'replying.requesting')
  })

  it('are recorded in an order in which a crash loses nothing', () => {
    const script = drainingAgent()
    const before = script.driver.records.length
    script.consult({ steps: [2] })
    assert.equal(script.types(before), ['policy.start', 'prune.requested', 'policy.end'])
  })

  it('count what they cost, and what their note adds', () => {
    const script = drainingAgent()
    const { contextTokens } = script.context
    script.consult({ note: 'think', usage: { input: 9, output: 1, cacheRead: 0, cacheWrite: 0 }, costUsd: 0.5 })
    assert.is(script.context.contextTokens, contextTokens + 10)
    assert.is(script.context.run?.costUsd, 0.5)
  })

  it('are passed over for this turn when the consultation breaks', () => {
    const script = drainingAgent()
    script.fire()
    script.crash('consultPolicies')
    assert.is(script.state, 'replying.requesting')
    assert.equal(endsOf(script), [['tidy', 'failed', 'it broke']])
    assert.is(script.context.consulting, null)
  })

  it('are not listened to when the consultation is not this one', () => {
    const script = drainingAgent()
    const child = script.driver.child('consultPolicies')
    const before = script.driver.records.length
    const stale = { ...consulted(child, 1, { steps: [2] }), key: 'a/policy/0' }
    script.driver.send({ type: 'xstate.done.actor.consultPolicies', output: stale } as never)
    const start = { policy: 'tidy', why: 'w', turn: 1, tokens: 1 }
    script.driver.send({ type: 'policy.fired', key: 'a/policy/0', start, at: 1 })
    assert.is(script.state, 'draining.consulting')
    assert.is(script.driver.records.length, before)
  })

  for (const [title, act, reason, state] of [
    ['an abort', (script: AgentScript) => script.abort(), 'aborted', 'settling'],
    ['a store that fails', (script: AgentScript) => script.failStore(), 'the store failed', 'paused'],
    ['the time limit', (script: AgentScript) => script.wake('deadline'), 'the time limit was reached', 'paused'],
  ] as const) {
    it(`end with ${title}, and say so`, () => {
      const script = drainingAgent({ limits: { ms: 1_000 } })
      script.fire()
      act(script)
      assert.is(script.state, state)
      assert.equal(endsOf(script), [['tidy', 'failed', reason]])
      assert.not.ok(script.underway.includes('consultPolicies'))
    })
  }

  it('end with a stop at rest, and say so', () => {
    const script = new AgentScript({ flags: on, policies: atRest })
    script.prompt('go')
    script.reply()
    script.consult()
    script.fire()
    script.stop()
    assert.is(script.state, 'stopped')
    assert.equal(endsOf(script), [['tidy', 'failed', 'the agent was stopped']])
  })
})

describe('a policy at rest', (it) => {
  const rested = (policies = atRest): AgentScript => {
    const script = new AgentScript({ flags: on, policies })
    script.prompt('go')
    script.reply()
    script.consult()
    return script
  }

  it('is asked once for each time the agent comes to rest', () => {
    const script = rested()
    assert.equal([script.state, inputOf(script).isAtRest, inputOf(script).from], ['draining.consulting', true, 0])
    script.consult({ steps: [2] })
    script.drain('drainPrunes')
    assert.is(inputOf(script).from, 1)
    script.consult()
    assert.is(script.state, 'idle')
    script.prompt('more')
    script.reply()
    script.consult()
    assert.equal([script.state, inputOf(script).from], ['draining.consulting', 0])
  })

  it('is not asked without one for it, nor before the first turn', () => {
    assert.is(rested({ ...atRest, atRest: false }).state, 'idle')
    assert.is(new AgentScript({ flags: on, policies: atRest }).state, 'idle')
  })

  it('is not asked anew at once when it is aborted before it has fired', () => {
    const script = rested()
    script.abort()
    assert.is(script.state, 'idle')
    assert.not.ok(script.underway.includes('consultPolicies'))
    assert.equal(endsOf(script), [])
  })

  it('gives way to a message, and is not asked again before its turn', () => {
    const script = rested()
    script.fire()
    script.prompt('more')
    assert.is(script.state, 'replying.requesting')
    assert.equal(endsOf(script), [['tidy', 'failed', 'a message came first']])
  })
})

describe('a policy asked for by name', (it) => {
  const idle = (): AgentScript => {
    const script = new AgentScript({ flags: on })
    script.prompt('go')
    script.reply()
    script.consult()
    return script
  }
  const answers = (script: AgentScript) => script.driver.recordsOf('policy.end').map(({ requestId }) => requestId)

  it('is asked at rest, one request after the other, and messages wait for it', () => {
    const script = idle()
    script.brake('tidy')
    script.brake('review')
    script.prompt('more')
    assert.is(inputOf(script).request?.policy, 'tidy')
    script.consult({})
    assert.is(inputOf(script).request?.policy, 'review')
    script.consult({ policy: 'review' })
    assert.is(script.state, 'replying.requesting')
    assert.equal(new Set(answers(script)).size, 2)
    assert.equal(script.context.policyRequests, [])
  })

  it('has its answer also when the consultation breaks before it has begun', () => {
    const script = idle()
    script.brake()
    script.crash('consultPolicies')
    assert.is(script.state, 'idle')
    assert.equal([answers(script).length, script.context.policyRequests], [1, []])
  })

  it('is refused when its run is aborted before it is asked', () => {
    const script = new AgentScript({ flags: on })
    script.prompt('go')
    script.brake()
    script.abort()
    script.settle()
    assert.equal(endsOf(script), [['tidy', 'failed', 'policy refused: the run was aborted']])
  })

  it('is not queued without policies', () => {
    const script = new AgentScript({ flags: off })
    script.brake()
    assert.equal([script.context.policyRequests, script.driver.recordsOf('policy.requested')], [null, []])
  })
})

describe('a policy whose process died', (it) => {
  const definition = defineAgent({
    name: 'tester',
    model: scriptedModel([]),
    braking: {
      policies: [
        policy({ name: 'tidy', when: { name: 'w', fires: () => null }, decide: { name: 'd', decide: () => null } }),
      ],
    },
  })
  const restoredFrom = (records: readonly LogRecord[]): AgentScript => {
    const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition))
    return new AgentScript({ flags: on }, { records, input: { restored } })
  }

  it('gets its end with the next life, and what it had asked for is still decided', () => {
    const script = drainingAgent()
    script.consult({ steps: [2] })
    const records = script.driver.records.filter(({ seq }) => seq <= script.driver.recordsOf('prune.requested')[0]!.seq)
    const again = restoredFrom(records)
    assert.equal(endsOf(again), [['tidy', 'failed', 'the process was interrupted']])
    assert.is(again.context.prunes?.length, 1)
  })

  it('is asked again when a person had asked for it', () => {
    const script = new AgentScript({ flags: on })
    script.prompt('go')
    script.reply()
    script.consult()
    script.brake()
    script.fire()
    const again = restoredFrom(script.driver.records)
    assert.equal(
      [endsOf(again), again.context.policyRequests?.length],
      [[['tidy', 'failed', 'the process was interrupted']], 1],
    )
    again.driver.send({ type: 'wake' })
    assert.is(again.state, 'draining.consulting')
    assert.is(inputOf(again).request?.policy, 'tidy')
  })
})
