import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { restoring } from '../support/restoring.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { restoreInput } from '../../src/runtime/agents/restoreInput.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, text } from './agentScript.ts'
import { agentIn } from './everyState.ts'

const definition = defineAgent({
  name: 'tester',
  model: scriptedModel([]),
  tools: [tool('tool', () => 'x'), tool('again', () => 'x', { effects: 'none' })],
})

/** An agent that goes on from a log, as after its process died; not yet woken. */
function restoredFrom(records: readonly LogRecord[], policy: Partial<AgentPolicy> = {}): AgentScript {
  const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition))
  return new AgentScript(policy, { records, input: { restored } })
}

/** The log up to the last record of this type, that included. */
const upTo = (records: readonly LogRecord[], type: LogRecord['type']): LogRecord[] =>
  records.slice(0, records.findLastIndex((record) => record.type === type) + 1)

const wake = (script: AgentScript): void => script.driver.send({ type: 'wake' })

const results = (script: AgentScript): [string, string][] =>
  script.driver.recordsOf('tool.end').map(({ callId, message }) => [callId, textOf(message.content)])

describe('an agent restored from its log', (it) => {
  it('begins a prompt that waited only once it is woken, and nothing else before', () => {
    const script = new AgentScript()
    script.prompt('one')
    script.prompt('two')
    script.reply()
    const again = restoredFrom(upTo(script.driver.records, 'run.end'))
    const before = again.driver.records.length
    assert.equal([again.state, again.underway], ['idle', []])
    again.prompt('three')
    assert.equal([again.state, again.underway], ['idle', []])
    assert.equal(again.types(before), ['queue.changed'])
    wake(again)
    assert.is(again.state, 'replying.requesting')
    again.reply()
    again.reply()
    assert.is(again.state, 'idle')
    const said = again.driver.recordsOf('message.added').map(({ message }) => textOf(message.content))
    assert.equal(said, ['one', 'two', 'three'])
  })

  it('drains a revert that waited only once it is woken', () => {
    const policy = { flags: { revert: true, prune: false, fold: false, stall: false, policies: false, compact: false } }
    const script = new AgentScript(policy)
    script.prompt('go')
    script.reply()
    script.revert('n1')
    const records = upTo(script.driver.records, 'revert.requested')
    const braked = defineAgent({ name: 'tester', model: scriptedModel([]), braking: { revert: true } })
    const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(braked))
    const again = new AgentScript(policy, { records, input: { restored } })
    assert.equal([again.state, again.underway], ['idle', []])
    wake(again)
    assert.is(again.state, 'draining.reverts')
  })

  it('drains a prune and a pin of a person that waited once it is woken', () => {
    const policy = { flags: { revert: false, prune: true, fold: false, stall: false, policies: false, compact: false } }
    const script = new AgentScript(policy)
    script.prompt('go')
    script.reply()
    script.prompt('more')
    script.prune('n2')
    script.graft('n2')
    script.pin('n2')
    const { records } = script.driver
    const braked = defineAgent({ name: 'tester', model: scriptedModel([]), braking: { prune: true } })
    const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(braked))
    const { prunes, grafts, pins } = restored.context
    assert.equal([prunes?.length, grafts?.length, pins?.length], [1, 1, 1])
    const again = new AgentScript(policy, { records, input: { restored: { ...restored, staysPaused: true } } })
    wake(again)
    assert.is(again.state, 'paused')
    again.abort()
    assert.is(again.state, 'draining.pins')
    again.drain('drainPins')
    again.drain('drainGrafts')
    again.drain('drainPrunes')
    assert.is(again.state, 'idle')
  })

  for (const [waits, context] of Object.entries({
    prompts: { prompts: [{ id: 'q1', content: text('go'), at: 1 }] },
    reporters: { reporters: [{ childId: 'a.1', name: 'helper', key: 'a/t0/tool/c1' }] },
    pins: { pins: [{ id: 'i1', by: 'person', step: 'n1', pinned: true }] },
    grafts: { grafts: [{ id: 'g1', by: 'person', steps: ['n1'] }] },
    undoing: { undoing: { id: 'v1', calls: [{ call: 3, what: 'a.ts' }], kept: [], steps: [] } },
    compactRequests: { compactRequests: [{ id: 'k1', by: 'person' }] },
    policyRequests: { policyRequests: [{ id: 'b1', by: 'person', policy: 'tidy' }] },
    reverts: { reverts: [{ id: 'v1', by: 'person', category: 'failure', step: 'n1' }] },
    prunes: { prunes: [{ id: 'p1', by: 'person', steps: ['n1'] }] },
  }))
    it(`that is to stay paused does so with nothing but ${waits} waiting`, () => {
      const script = new AgentScript()
      script.prompt('go')
      script.reply()
      const { records } = script.driver
      const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition))
      const paused = (more: object) => {
        const input = { restored: { ...restored, context: { ...restored.context, ...more }, staysPaused: true } }
        return new AgentScript({}, { records, input: input }).context.pause
      }
      assert.equal(paused(context), { type: 'interrupted' })
      assert.is(paused({}), null)
    })

  it('in the middle of a run drops the rest of it for a new prompt', () => {
    const script = new AgentScript()
    script.prompt('one')
    script.reply({ calls: ['c1', 'c2'] })
    const again = restoredFrom(script.driver.records)
    assert.equal(again.context.pause, { type: 'interrupted' })
    wake(again)
    assert.is(again.state, 'paused')
    again.prompt('something else')
    assert.is(again.state, 'replying.requesting')
    assert.is(again.context.pause, null)
    assert.is(again.driver.recordsOf('run.start').at(-1)?.resumedFrom, undefined)
    again.reply()
    assert.equal([again.state, again.context.calls.length], ['idle', 0])
  })

  it('in the middle of a run gives it up for an abort, its calls answered', () => {
    const script = new AgentScript({ toolExecution: 'sequential' })
    script.prompt('one')
    script.reply({ calls: ['c1', { callId: 'c2', name: 'again' }] })
    const again = restoredFrom(script.driver.records)
    wake(again)
    const before = again.driver.records.length
    again.abort()
    assert.equal([again.state, again.context.pause, again.context.pausedRun], ['idle', null, null])
    assert.equal(again.types(before), ['tool.end', 'run.abandoned'])
    assert.equal(
      results(again).map(([, words]) => words.split(':')[0]),
      ['Interrupted', 'Aborted before it started.'],
    )
    again.resume()
    assert.is(again.state, 'idle')
  })

  it('that is to stay paused keeps what it waits for', () => {
    const { records } = agentIn('paused for approvals').driver
    const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition))
    const prompts = [{ id: 'q9', content: text('and then'), at: 1 }]
    const input = { restored: { ...restored, context: { ...restored.context, prompts }, staysPaused: true } }
    assert.is(new AgentScript({}, { records, input: input }).context.pause?.type, 'approvals')
  })

  it('does not run a call again whose arguments the log does not have as they were', () => {
    const script = new AgentScript()
    script.prompt('one')
    script.reply({ calls: ['c1', 'c2'].map((callId) => ({ callId, name: 'again' })) })
    const { records } = script.driver
    const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition))
    const again = new AgentScript({}, { records, input: { restored: { ...restored, redacted: ['c1'] } } })
    wake(again)
    again.resume()
    assert.equal([results(again).map(([callId]) => callId), again.underway], [['c1'], ['c2']])
  })

  it('runs the call that a person has approved, also beyond a maximum that was lowered since', () => {
    const script = new AgentScript({ toolExecution: 'sequential' })
    script.prompt('go')
    script.reply({ calls: [{ callId: 'c1', name: 'again' }, { callId: 'c2', held: true }, 'c3'] })
    script.approve('c2')
    const again = restoredFrom(script.driver.records, { toolExecution: 'sequential', maxCallsPerReply: 1 })
    wake(again)
    again.resume()
    again.finishCall('c1')
    assert.equal(again.underway, ['c2'])
    assert.equal(
      results(again).map(([callId]) => callId),
      ['c3', 'c1'],
    )
  })

  it('waits for people in the run it had, and writes nothing before they decide', () => {
    const script = agentIn('paused for approvals')
    const again = restoredFrom(script.driver.records)
    wake(again)
    again.resume()
    assert.equal([again.state, again.context.pause?.type], ['paused', 'approvals'])
    assert.equal(again.driver.records, script.driver.records)
    again.approve('c1')
    assert.equal([again.state, again.underway], ['executing', ['c1']])
    assert.is(again.driver.recordsOf('run.start').length, 1)
  })

  it('takes no decision while the run it belongs to waits for its resume', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({
      calls: [
        { callId: 'c1', held: true },
        { callId: 'c2', name: 'again' },
      ],
    })
    const again = restoredFrom(script.driver.records)
    wake(again)
    const before = again.driver.records.length
    again.approve('c1')
    assert.equal([again.state, again.context.pause], ['paused', { type: 'interrupted' }])
    assert.is(again.driver.records.length, before)
    again.resume()
    assert.equal(again.underway, ['c2'])
    again.approve('c1')
    assert.equal(again.underway.toSorted(), ['c1', 'c2'])
  })

  it('takes what was said in the middle of the run before it waits for people', () => {
    const script = agentIn('paused for approvals')
    script.driver.send({ type: 'steer', id: 'q9', at: 1, content: text('leave it') })
    const said = script.driver.records.findIndex(({ type }) => type === 'queue.changed')
    const steered = restoredFrom(script.driver.records.slice(0, said + 1))
    wake(steered)
    assert.equal(steered.context.pause, { type: 'interrupted' })
    steered.resume()
    assert.match(results(steered)[0]?.[1] ?? '', /^Skipped/)
  })

  it('takes no decision while something else waits to be gone on with, and keeps the call for a person', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({
      calls: [
        { callId: 'c1', held: true },
        { callId: 'c2', name: 'again' },
      ],
    })
    const again = restoredFrom(script.driver.records)
    wake(again)
    const before = again.driver.records.length
    again.approve('c1')
    again.prompt('and now?')
    assert.equal([again.state, again.context.pause], ['paused', { type: 'interrupted' }])
    assert.equal(again.types(before), ['queue.changed'])
    again.resume()
    again.finishCall('c2')
    assert.is(again.context.pause?.type, 'approvals')
    again.approve('c1')
    assert.equal([again.state, again.underway], ['executing', ['c1']])
  })

  it('forgets a run whose beginning is not all in the log: its prompt comes again', () => {
    const script = new AgentScript()
    script.driver.send({ type: 'prompt', id: 'q1', at: 1, content: text('go'), context: [{ content: text('before') }] })
    const records = script.driver.records.filter(({ type }) => type !== 'turn.start')
    const half = records.slice(0, records.findIndex(({ type }) => type === 'message.added') + 1)
    const again = restoredFrom(half)
    assert.equal([again.state, again.context.pause], ['idle', null])
    assert.is(again.driver.records.at(-1)?.type, 'run.end')
    wake(again)
    assert.is(again.state, 'idle')
    assert.equal(restoredFrom(records).context.pause, { type: 'interrupted' })
  })

  it('ends a compaction that was cut off, and goes on', () => {
    const script = agentIn('compacting')
    const again = restoredFrom(script.driver.records)
    assert.is(again.driver.recordsOf('compaction.end')[0]?.reason, 'the process was interrupted')
    assert.is(again.context.isCompacting, false)
    wake(again)
    again.resume()
    assert.not.match(again.state, 'paused')
  })

  it('keeps a denial that the log holds', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({
      calls: [
        { callId: 'c1', held: true },
        { callId: 'c2', name: 'again' },
      ],
    })
    script.deny('c1', 'too risky')
    const again = restoredFrom(upTo(script.driver.records, 'approval.decided'))
    assert.equal(results(again), [['c1', 'Denied by the user: it was not run. Reason: too risky']])
  })

  it('counts the turn that a resume goes on with against no limit', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [{ callId: 'c1', name: 'again' }] })
    const again = restoredFrom(script.driver.records)
    wake(again)
    again.resume({ turns: 1 })
    again.finishCall('c1')
    assert.is(again.state, 'replying.requesting')
  })

  it('goes on with what it may still use, and is not given a fresh allowance by its death', () => {
    const script = new AgentScript({ limits: { turns: 5, tokens: 100, costUsd: 1, ms: 10_000 } })
    script.prompt('one')
    for (const callId of ['c1', 'c2']) {
      script.reply({ calls: [callId], usage: { output: 15 }, costUsd: 0.25 })
      script.driver.now += 1_500
      script.finishCall(callId)
    }
    const again = restoredFrom(script.driver.records, { limits: { turns: 5 } })
    wake(again)
    const left = { turns: 2, tokens: 70, costUsd: 0.5, ms: 7_000 }
    // Nor by another death before anybody has gone on with it.
    const third = restoredFrom(again.driver.records, { limits: { turns: 5 } })
    wake(third)
    for (const life of [again, third]) {
      life.resume()
      assert.equal(life.driver.recordsOf('run.start').at(-1)?.limits, left)
    }
  })

  it('has what its prompt gave again, once what its death left of that is used up', () => {
    const script = new AgentScript({ limits: { turns: 9, costUsd: 1 } })
    script.prompt('one', { limits: { turns: 2 } })
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    const again = restoredFrom(script.driver.records, { limits: { turns: 9, costUsd: 1 } })
    wake(again)
    again.resume()
    again.reply({ calls: ['c2'] })
    again.finishCall('c2')
    assert.is(again.context.pause?.type, 'limit')
    again.resume()
    assert.equal(
      again.driver.recordsOf('run.start').map(({ limits, given }) => [limits.turns, given]),
      [
        [2, { turns: 2 }],
        [1, { turns: 2 }],
        [2, { turns: 2 }],
      ],
    )
  })
})

describe('an agent that exists for one request', (it) => {
  const subAgent = (): AgentScript => {
    const script = new AgentScript({}, { input: { task: 'q1' } })
    script.prompt('the task')
    return script
  }

  it('ends with its run', () => {
    const script = subAgent()
    script.reply()
    assert.is(script.state, 'stopped')
    assert.not.ok(script.types().includes('agent.stopped'), 'it may be resumed')
  })

  it('first does what it was told beside', () => {
    const script = subAgent()
    script.prompt('and this')
    script.reply()
    assert.is(script.state, 'replying.requesting')
    script.reply()
    assert.is(script.state, 'stopped')
    assert.is(script.driver.recordsOf('run.end').length, 2)
  })

  it('first closes the children that code gave it, and waits for them', () => {
    const script = subAgent()
    script.spawn('a.s1')
    script.reply()
    assert.is(script.state, 'idle')
    assert.equal(script.driver.told, [{ id: 'child.0', type: 'close' }])
    script.endChild('a.s1')
    assert.is(script.state, 'stopped')
    assert.is(script.driver.recordsOf('child.ended').length, 1)
  })

  it('ends after a pause as well, once its children have', () => {
    const script = new AgentScript({ limits: { turns: 1 } }, { input: { task: 'q1' } })
    script.prompt('the task')
    script.spawn('a.s1')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    assert.is(script.state, 'paused')
    script.endChild('a.s1')
    assert.is(script.state, 'stopped')
  })
})
