import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import type { GuardVerdict } from '../../src/protocol/guarding.ts'
import { testPolicy } from '../support/machineDriver.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, diskFull, refused, replied, text } from './agentScript.ts'

const flags = { ...testPolicy.flags, inputGuards: true, outputGuards: true } as const
const passed: GuardVerdict = { at: 'input', decision: 'passed', to: 1 }
const inputRefused: GuardVerdict = { at: 'input', decision: 'refused', guard: 'g', reason: 'no', to: 1, withheld: [1] }
const outputRefused: GuardVerdict = { at: 'output', decision: 'refused', guard: 'g', reason: 'no' }

function prompted(policyFlags = flags): AgentScript {
  const script = new AgentScript({ flags: policyFlags })
  script.prompt('go')
  return script
}

/** The reply ends as guards let it. */
function end(script: AgentScript, guards: readonly GuardVerdict[]): void {
  const { driver } = script
  const child = driver.child('streamReply')
  const [verdict] = guards
  if (verdict?.at === 'output' && verdict.decision === 'refused') {
    const withheld = { at: 'output', guard: 'g', reason: 'no', content: text('secret') } as const
    driver.finish(child, { ...replied(child, { text: '[no]', stopReason: 'refusal' }, driver.now), withheld, guards })
  } else if (verdict === undefined || verdict.decision === 'passed')
    driver.finish(child, { ...replied(child, {}, driver.now), guards })
  else {
    const failure = { kind: verdict.decision === 'failed' ? 'unguarded' : 'refused', error: diskFull } as const
    driver.finish(child, { ...refused(child, 'other', driver.now), failure, guards })
  }
}

const lastRun = (script: AgentScript) => {
  const { stopReason, refusal, error } = script.driver.recordsOf('run.end').at(-1)!
  return { stopReason, ...(refusal === undefined ? {} : { refusal }), ...(error === undefined ? {} : { error }) }
}

describe('a run under guards', (it) => {
  it('asks about what nobody has looked at yet, and not again once it has passed', () => {
    const script = prompted()
    assert.is(script.driver.child('streamReply').input.guardedTo, 0)
    end(script, [passed])
    assert.equal(lastRun(script), { stopReason: 'stop' })
    assert.equal(script.types().slice(-5), ['turn.start', 'guard.decided', 'reply.end', 'turn.end', 'run.end'])
    script.prompt('and')
    assert.is(script.driver.child('streamReply').input.guardedTo, 1)
  })

  it('ends with refusal when a guard refuses what was said', () => {
    const script = prompted()
    end(script, [inputRefused])
    assert.is(script.state, 'idle')
    assert.equal(lastRun(script), { stopReason: 'refusal', refusal: { at: 'input', guard: 'g', reason: 'no' } })
    assert.equal(script.types().slice(-4), ['guard.decided', 'reply.reset', 'turn.end', 'run.end'])
    assert.equal([script.context.owesReply, script.context.guardedTo], [false, 1])
  })

  it('ends with refusal when a guard refuses the answer, which is recorded with what it was', () => {
    const script = prompted()
    end(script, [outputRefused])
    assert.equal(lastRun(script), { stopReason: 'refusal', refusal: { at: 'output', guard: 'g', reason: 'no' } })
    assert.equal(script.types().slice(-4), ['guard.decided', 'reply.end', 'turn.end', 'run.end'])
    assert.equal(script.driver.recordsOf('reply.end')[0]!.withheld?.content, text('secret'))
  })

  it('fails when a guard does, without another attempt, and what was said stays to be asked about', () => {
    const script = prompted()
    end(script, [{ at: 'input', decision: 'failed', guard: 'g', error: diskFull }])
    assert.equal([script.state, lastRun(script)], ['idle', { stopReason: 'error', error: diskFull }])
    script.prompt('again')
    assert.is(script.driver.child('streamReply').input.guardedTo, 0)
  })

  it('keeps what they let pass through a retry', () => {
    const script = prompted()
    const { driver } = script
    const child = driver.child('streamReply')
    driver.finish(child, { ...refused(child, 'network', driver.now), guards: [passed] })
    assert.is(script.state, 'backoff')
    driver.finish(driver.child('sleep'), driver.child('sleep').input)
    assert.is(driver.child('streamReply').input.guardedTo, 1)
  })

  it('ends as it would have after a crash at any record of its end', () => {
    for (const verdict of [inputRefused, outputRefused]) {
      const script = prompted()
      end(script, [verdict])
      const { records } = script.driver
      const decided = records.findIndex(({ type }) => type === 'guard.decided')
      // An answer that is not in the log was never given: it is asked for again.
      const first = verdict.at === 'input' ? decided + 1 : decided + 2
      for (let length = first; length < records.length; length += 1) {
        const kept = records.slice(0, length)
        const context = { ...rebuildContext(kept), head: 1, lastNodeId: 2 }
        const restored = { context, mayRerun: [], redacted: [], unapproved: [] }
        const again = new AgentScript({ flags }, { input: { restored }, records: kept })
        assert.equal([length, lastRun(again)], [length, lastRun(script)])
        assert.is(again.context.pause, null)
        assert.is(again.state, 'idle')
      }
    }
  })

  it('has no way to end so without guards, whatever is forged', () => {
    const script = prompted(testPolicy.flags as typeof flags)
    assert.not.ok('guardedTo' in script.driver.child('streamReply').input)
    end(script, [{ ...passed }, inputRefused])
    assert.equal(lastRun(script), { stopReason: 'stop' })
  })
})
