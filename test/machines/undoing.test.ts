import type { AgentContext } from '../../src/machines/agentTypes.ts'
import { undoInput } from '../../src/machines/undoing.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { restoring } from '../support/restoring.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { restoreInput } from '../../src/runtime/agents/restoreInput.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { AgentScript, askRevert } from './agentScript.ts'
import { assert, describe } from '../support/suite.ts'
import { agentIn } from './everyState.ts'
import { goBack, undo } from './undoScript.ts'

const flags = { revert: true, prune: true, fold: false, stall: false, policies: false, compact: true }
const policy = { flags, reversible: ['tool'] }

/** Two calls of one reply, about to be undone, the newer first. */
function twoCalls(): AgentScript {
  const script = new AgentScript(policy)
  script.prompt('go')
  script.reply({ calls: ['c1', 'c2'] })
  script.finishCall('c1')
  script.finishCall('c2', { brake: askRevert })
  goBack(script, 4, 3)
  return script
}

/** An agent that goes on from a log, as after its process died. */
function restored(records: readonly LogRecord[], revert = true): AgentScript {
  const model = scriptedModel([])
  const definition = defineAgent({ name: 'tester', model, ...(revert ? { braking: { revert } } : {}) })
  const input = { restored: restoreInput({ past: [], records }, rebuildConversation(records), restoring(definition)) }
  const script = new AgentScript({ ...policy, flags: { ...flags, revert } }, { records, input })
  assert.is(script.state, 'paused')
  script.driver.send({ type: 'wake' })
  return script
}

describe('undoing', (it) => {
  it('takes one call after the other, the newest first, each with a record and a key of its own', () => {
    const script = twoCalls()
    const before = script.driver.records.length
    const first = script.driver.child('undoCall').input
    undo(script)
    const second = script.driver.child('undoCall').input
    assert.equal([first.call.call, second.call.call], [4, 3])
    assert.equal(
      [first.key, second.key].map((key) => key.replace(/.*\/undo/, 'undo')),
      ['undo/n4', 'undo/n3'],
    )
    undo(script, { undone: false, why: 'it is gone' })
    assert.equal(script.types(before), ['undo.step', 'undo.step', 'undo.end', 'turn.end', 'turn.start'])
    const [end] = script.driver.recordsOf('undo.end')
    assert.equal([end?.undone, end?.kept], [['file 4'], [{ what: 'file 3', why: 'it is gone' }]])
    assert.equal([script.state, script.context.undoing], ['replying.requesting', null])
  })

  it('goes on when the effect breaks down', () => {
    const script = twoCalls()
    script.crash('undoCall', 'it broke')
    undo(script)
    assert.equal(script.driver.recordsOf('undo.end')[0]?.kept, [{ what: 'file 4', why: 'it broke' }])
  })

  it('does not pass over a failing store: the call is tried again after a resume', () => {
    const script = twoCalls()
    const error = { code: 'STORE_APPEND_FAILED', message: 'full' } as const
    undo(script, {}, { notStarted: error })
    assert.is(script.state, 'paused')
    script.resume()
    assert.equal([script.state, script.driver.child('undoCall').input.call.call], ['draining.undoing', 4])
  })

  it('is ended by an abort and by a stop, and says what was not done', () => {
    for (const end of ['abort', 'stop'] as const) {
      const script = twoCalls()
      undo(script)
      script[end]()
      if (script.state === 'settling') script.settle()
      const why = 'the run was aborted while it was undone: look at it'
      assert.equal(script.driver.recordsOf('undo.end')[0]?.kept, [{ what: 'file 3', why }])
      assert.is(script.context.undoing, null)
    }
  })

  it('goes on after a crash where the log ends, whichever record was the last', () => {
    const script = twoCalls()
    undo(script)
    undo(script)
    const { records } = script.driver
    const applied = records.findIndex(({ type }) => type === 'revert.applied')
    const left = [1, 2, 3, 4].map((more) => {
      const { undoing } = rebuildContext(records.slice(0, applied + more))
      return undoing === null ? null : undoing.calls.length - undoing.steps.length
    })
    assert.equal(left, [2, 1, 0, null])
    for (const [more, calls] of [
      [1, 2],
      [2, 1],
      [3, 0],
    ] as const) {
      const again = restored(records.slice(0, applied + more))
      again.resume()
      for (let call = 0; call < calls; call++) undo(again)
      assert.equal(
        again.driver.recordsOf('undo.end').map(({ undone }) => undone),
        [['file 3', 'file 4']],
      )
      assert.is(again.state, 'replying.requesting')
    }
  })

  it('goes first when a person says something else after a crash', () => {
    const again = restored(agentIn('draining.undoing').driver.records)
    again.prompt('something else')
    assert.is(again.state, 'draining.undoing')
    undo(again)
    assert.is(again.state, 'replying.requesting')
  })

  it('is given up when the paused run is', () => {
    const again = restored(agentIn('draining.undoing').driver.records)
    again.abort()
    const why = 'the run was aborted while it was undone: look at it'
    assert.equal(again.driver.recordsOf('undo.end')[0]?.kept, [{ what: 'file 3', why }])
    assert.is(again.state, 'idle')
  })

  it('goes on with a definition without reverts: a person may have asked for it', () => {
    const again = restored(agentIn('draining.undoing').driver.records, false)
    again.resume()
    assert.is(again.state, 'draining.undoing')
  })
})

describe('the effect that undoes calls which belong together', (it) => {
  it('is given those before it of the same thing that are left, and nothing of others', () => {
    const of = (call: number, what: string) => ({ call, what, together: true }) as const
    const calls = [of(9, 'a.ts'), of(8, 'b.ts'), of(7, 'a.ts'), { call: 6, what: 'a.ts' }, of(5, 'a.ts')]
    const given = (steps: readonly { readonly call: number; readonly undone: boolean }[]) => {
      const undoing = { id: 'v1', calls, kept: [], steps }
      const { call, earlier } = undoInput({ agentId: 'a', undoing } as unknown as AgentContext)
      return [call.call, earlier]
    }
    assert.equal(given([]), [9, [7, 5]])
    assert.equal(given(calls.slice(0, 2).map(({ call }) => ({ call, undone: true }))), [7, [5]])
    assert.equal(given(calls.slice(0, 3).map(({ call }) => ({ call, undone: true }))), [6, []])
  })
})
