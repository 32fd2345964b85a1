import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { restoring } from '../support/restoring.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { restoreInput } from '../../src/runtime/agents/restoreInput.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'
import { agentIn } from './everyState.ts'

const definition = defineAgent({ name: 'tester', model: scriptedModel([]) })

/** An agent that goes on from a log, as after its process died; not yet woken. */
function restoredFrom(records: readonly LogRecord[]): AgentScript {
  const restored = restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition))
  return new AgentScript({}, { records, input: { restored } })
}

describe('an agent restored from its log', (it) => {
  it('has given up the paused run that a prompt left, although its process died before that began', () => {
    const script = new AgentScript({ limits: { turns: 1 } })
    script.prompt('one')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    assert.is(script.context.pause?.type, 'limit')
    // It is done first, at rest.
    script.askCompaction()
    const before = script.driver.records.length
    script.prompt('two')
    assert.is(script.state, 'compacting')
    assert.equal(script.types(before), ['run.abandoned', 'queue.changed', 'compaction.start'])
    const again = restoredFrom(script.driver.records)
    assert.equal([again.context.pause, again.context.pausedRun], [null, null])
    again.driver.send({ type: 'wake' })
    again.compact()
    assert.is(again.state, 'replying.requesting')
    assert.equal(
      again.driver.recordsOf('run.start').map(({ cause, resumedFrom }) => [cause, resumedFrom]),
      [
        ['prompt', undefined],
        ['prompt', undefined],
      ],
    )
  })

  it('has given up the run that was aborted while its store failed', () => {
    const script = agentIn('paused by the store')
    assert.is.not(script.context.pausedRun, null)
    script.abort()
    assert.equal([script.context.pause?.type, script.context.owesReply], ['store', false])
    const again = restoredFrom(script.driver.records)
    assert.equal([again.context.pause, again.context.pausedRun, again.context.owesReply], [null, null, false])
    again.driver.send({ type: 'wake' })
    assert.is(again.state, 'idle')
  })
})
