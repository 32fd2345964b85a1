import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { restoring } from '../support/restoring.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { restoreInput } from '../../src/runtime/agents/restoreInput.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, overlayOver } from './agentScript.ts'

describe('compaction for a person', (it) => {
  const atRest = (): AgentScript => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply()
    return script
  }
  const answersOf = (script: AgentScript) =>
    script.driver.recordsOf('compaction.end').map(({ requestId, applied, reason }) => [requestId, applied, reason])

  it('starts at rest, takes anything that makes the request smaller, and leaves the agent at rest', () => {
    const script = atRest()
    script.askCompaction('names')
    assert.is(script.state, 'compacting')
    const { force, focus } = script.driver.child('compactTrunk').input
    assert.equal([force, focus], [true, 'names'])
    script.compact({ overlay: overlayOver(2, 2), tokensAfter: 5, usage: null })
    assert.is(script.state, 'idle')
    assert.equal(answersOf(script), [['k2', true, undefined]])
    assert.equal([script.context.compactRequests, script.context.lastNodeId, script.context.run], [[], 3, null])
  })

  it('comes between turns, before one for headroom, and each request has its answer', () => {
    const script = new AgentScript({ compaction: { trigger: 1_000, regrowth: 100 } })
    script.prompt('go')
    script.reply({ calls: ['c1'], contextTokens: 5_000 })
    script.askCompaction()
    script.askCompaction()
    assert.is(script.state, 'executing')
    script.finishCall('c1')
    script.compact({ tokensBefore: 5_000, tokensAfter: 5_000 })
    assert.is(script.state, 'compacting')
    script.crash('compactTrunk')
    assert.is(script.state, 'replying.requesting')
    assert.equal(
      script.driver.recordsOf('compaction.start').map(({ cause, requestId }) => [cause, requestId]),
      [
        ['requested', 'k2'],
        ['requested', 'k3'],
      ],
    )
    assert.equal(answersOf(script), [
      ['k2', false, 'nothing to gain'],
      ['k3', false, 'it broke'],
    ])
  })

  it('waits for pins that were asked for before it', () => {
    const script = atRest()
    script.pin('n1')
    script.pin('n2')
    script.askCompaction()
    for (let at = 0; at < 2; at += 1) {
      assert.is(script.state, 'draining.pins')
      script.drain('drainPins')
    }
    assert.is(script.state, 'compacting')
  })

  it('waits for pins that came while a revert was decided', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: true },
    })
    script.prompt('go')
    script.reply()
    script.revert('n1')
    script.pin('n2')
    script.askCompaction()
    script.drain('drainReverts')
    assert.is(script.state, 'draining.pins')
    script.drain('drainPins')
    assert.is(script.state, 'compacting')
  })

  it('is there with compaction off, too', () => {
    const script = new AgentScript({
      flags: { revert: false, prune: false, fold: false, stall: false, policies: false, compact: false },
    })
    script.askCompaction()
    assert.is(script.state, 'compacting')
    assert.is(script.driver.recordsOf('compaction.requested').length, 1)
  })

  it('at rest ends with an abort, which lets a prompt go on', () => {
    const script = atRest()
    script.askCompaction()
    script.askCompaction()
    script.prompt('next')
    script.abort()
    assert.is(script.state, 'replying.requesting')
    assert.equal(answersOf(script), [
      ['k2', false, 'aborted'],
      ['k3', false, 'compaction refused: it was aborted'],
    ])
  })

  it('in a run ends with that run', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.askCompaction()
    script.askCompaction()
    script.finishCall('c1')
    script.abort()
    script.settle()
    assert.is(script.state, 'idle')
    assert.equal(answersOf(script), [
      ['k2', false, 'aborted'],
      ['k3', false, 'compaction refused: the run was aborted'],
    ])
  })

  it('is answered by a stop, and left to the next process by a close or a store that fails', () => {
    const stopped = atRest()
    stopped.askCompaction()
    stopped.stop()
    assert.is(stopped.state, 'stopped')
    assert.equal(answersOf(stopped), [['k2', false, 'the agent was stopped']])
    const closed = atRest()
    closed.askCompaction()
    closed.driver.send({ type: 'close' })
    assert.equal([closed.state, answersOf(closed)], ['stopped', [[undefined, false, 'the agent was stopped']]])
    assert.equal(
      rebuildConversation(closed.driver.records).annotations?.waiting.compactions.map(({ id }) => id),
      ['k2'],
    )
    const failed = atRest()
    failed.askCompaction()
    failed.failStore()
    assert.equal([failed.state, answersOf(failed)], ['paused', [[undefined, false, 'the store failed']]])
    failed.resume()
    assert.is(failed.state, 'compacting')
  })

  it('that was cut off is begun again by the next process', () => {
    const script = atRest()
    script.askCompaction()
    const { records } = script.driver
    const definition = defineAgent({ name: 'tester', model: scriptedModel([]) })
    const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition))
    const again = new AgentScript({}, { records, input: { restored } })
    assert.equal(answersOf(again), [[undefined, false, 'the process was interrupted']])
    again.driver.send({ type: 'wake' })
    assert.is(again.state, 'compacting')
    again.compact({ overlay: overlayOver(2, 2) })
    assert.is(again.state, 'idle')
    assert.is(answersOf(again).at(-1)?.[0], 'k2')
  })
})
