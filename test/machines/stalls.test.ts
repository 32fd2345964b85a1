import type { StallCheck } from '../../src/machines/drainTypes.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, askRevert, checked } from './agentScript.ts'

const off = { revert: false, prune: false, fold: false, stall: false, policies: false, compact: false }
const on = { ...off, stall: true }

/** In the drain after a step of one call. */
function drainingAgent(flags = on, { brake = false } = {}): AgentScript {
  const script = new AgentScript({ flags })
  script.prompt('go')
  script.reply({ calls: ['c1'] })
  script.finishCall('c1', brake ? { brake: askRevert } : {})
  return script
}

const reason = { type: 'stall', rule: 'repeat', first: 2, target: 1, evidence: 'the same again' } as const

describe('the look for a stall', (it) => {
  for (const stall of [true, false])
    for (const isLast of [true, false])
      for (const steered of [true, false]) {
        const isDue = stall && !isLast && !steered
        const flag = `the flag ${stall ? 'on' : 'off'}`
        const step = isLast ? 'an answer' : 'a step with calls'
        it(`${isDue ? 'is made' : 'is left out'} with ${flag}, after ${step}${steered ? ', when a person spoke' : ''}`, () => {
          const script = new AgentScript({ flags: { ...on, stall } })
          script.prompt('go')
          script.reply(isLast ? {} : { calls: ['c1', 'c2'] })
          if (!isLast) {
            script.finishCall('c1')
            if (steered) script.steer('wait')
            if (script.state === 'executing') script.finishCall('c2')
          }
          assert.is(script.state === 'draining.checking', isDue)
        })
      }

  it('leads on when there is none, and writes nothing', () => {
    const script = drainingAgent()
    const before = script.driver.records.length
    script.check()
    assert.is(script.state, 'replying.requesting')
    assert.equal(script.types(before), ['turn.end', 'turn.start'])
  })

  it('leads on when it breaks', () => {
    const script = drainingAgent()
    script.crash('drainStall')
    assert.is(script.state, 'replying.requesting')
  })

  it('drops a result that is not of this look', () => {
    const script = drainingAgent()
    const child = script.driver.child('drainStall')
    const before = script.driver.records.length
    const stale: StallCheck = { ...checked(child, 1, { step: 2, rung: 'pause' }), key: 'a/stall/0' }
    script.driver.send({ type: 'xstate.done.actor.drainStall', output: stale } as never)
    assert.is(script.state, 'draining.checking')
    assert.is(script.driver.records.length, before)
  })

  it('does nothing when a person has spoken in the meantime', () => {
    const script = drainingAgent()
    script.steer('look elsewhere')
    script.check({ step: 2, rung: 'pause' })
    assert.is(script.state, 'replying.requesting')
    assert.equal(script.driver.recordsOf('stall.detected'), [])
  })

  it('is stopped by an abort', () => {
    const script = drainingAgent()
    script.abort()
    assert.is(script.state, 'settling')
    script.settle()
    assert.is(script.state, 'idle')
    assert.equal(script.driver.recordsOf('stall.detected'), [])
  })
})

describe('a stall', (it) => {
  for (const rung of ['none', 'note'] as const) {
    it(`with the rung ${rung} is recorded, and the run goes on`, () => {
      const script = drainingAgent()
      const { contextTokens } = script.context
      script.check({ step: 2, rung })
      assert.is(script.state, 'replying.requesting')
      assert.is(script.driver.recordsOf('stall.detected')[0]?.rung, rung)
      assert.is(script.context.contextTokens, contextTokens + (rung === 'note' ? 10 : 0))
    })
  }

  it('with the rung revert asks for the revert first, and has it decided in the same drain', () => {
    const script = drainingAgent({ ...on, revert: true })
    const before = script.driver.records.length
    script.check({ step: 2, rung: 'revert' })
    assert.equal(script.types(before), ['revert.requested', 'stall.detected'])
    assert.is(script.state, 'draining.reverts')
    const [request] = script.driver.child('drainReverts').input.requests
    assert.equal([request?.by, request?.id], ['runtime', 'a/stall/n3'])
    script.drain('drainReverts')
    assert.is(script.state, 'replying.requesting')
  })

  it('asks for the revert no more when it waits already, as after a crash', () => {
    const script = drainingAgent({ ...on, revert: true })
    const request = { id: 'a/stall/n3', by: 'runtime', category: 'failure', step: 'n1' } as const
    script.driver.send({ type: 'revert', request, at: script.driver.now })
    const before = script.driver.records.length
    script.check({ step: 2, rung: 'revert' })
    assert.equal(script.types(before), ['stall.detected'])
    assert.equal(script.driver.child('drainReverts').input.requests, [request])
  })

  it('never reverts with that flag off, whatever the look says', () => {
    const script = drainingAgent()
    script.check({ step: 2, rung: 'revert' })
    assert.is(script.state, 'replying.requesting')
    assert.equal(script.driver.recordsOf('revert.requested'), [])
  })

  it('with the rung pause pauses the run, and a resume goes on with it', () => {
    const script = drainingAgent()
    const before = script.driver.records.length
    script.check({ step: 2, rung: 'pause' })
    assert.equal(script.types(before), ['stall.detected', 'turn.end', 'run.end'])
    assert.is(script.state, 'paused')
    assert.equal(script.context.pause, reason)
    assert.equal(script.driver.recordsOf('run.end')[0]?.reason, reason)
    script.resume()
    assert.is(script.state, 'draining.checking')
    script.check()
    assert.is(script.state, 'replying.requesting')
    assert.is(script.driver.recordsOf('run.start')[1]?.resumedFrom, 'a/r0')
  })

  it('that the log holds already, but not its pause, is only followed by the pause', () => {
    const script = drainingAgent()
    const child = script.driver.child('drainStall')
    const before = script.driver.records.length
    script.driver.finish(child, { ...checked(child, script.driver.now, { step: 2, rung: 'pause' }), isRecorded: true })
    assert.equal(script.types(before), ['turn.end', 'run.end'])
    assert.equal(script.context.pause, reason)
  })

  it('lets go of its pause for a new message, and for an abort', () => {
    const spoken = drainingAgent()
    spoken.check({ step: 2, rung: 'pause' })
    spoken.prompt('try the other one')
    assert.is(spoken.state, 'replying.requesting')
    assert.is(spoken.context.pause, null)
    const aborted = drainingAgent()
    aborted.check({ step: 2, rung: 'pause' })
    aborted.abort()
    assert.is(aborted.state, 'idle')
    assert.equal(aborted.types().slice(-1), ['run.abandoned'])
  })

  it('leaves what was asked for to the drain after the pause', () => {
    const script = drainingAgent({ ...on, revert: true }, { brake: true })
    script.check({ step: 2, rung: 'pause' })
    assert.is(script.state, 'paused')
    assert.is(script.context.reverts?.length, 1)
    script.resume()
    script.check()
    assert.is(script.state, 'draining.reverts')
  })

  it('does not pause when the store fails: that goes first', () => {
    const script = drainingAgent()
    script.failStore()
    script.check({ step: 2, rung: 'pause' })
    assert.is(script.state, 'paused')
    assert.is(script.context.pause?.type, 'store')
  })
})

describe('a call of a tool that polls', (it) => {
  it('is recorded as such, beside what else is known of it, and no other call', () => {
    const script = new AgentScript({ flags: on, polling: ['watch', 'both'], irreversible: ['pay', 'both'] })
    script.prompt('go')
    script.reply({ calls: ['watch', 'pay', 'both', 'look'].map((name) => ({ callId: name, name })) })
    assert.equal(
      script.driver.recordsOf('tool.start').map(({ name, polls, irreversible }) => [name, polls, irreversible]),
      [
        ['watch', true, undefined],
        ['pay', undefined, true],
        ['both', true, true],
        ['look', undefined, undefined],
      ],
    )
  })
})
