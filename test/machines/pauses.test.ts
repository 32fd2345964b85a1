import { assert, describe } from '../support/suite.ts'
import { AgentScript, diskFull } from './agentScript.ts'
import { undo } from './undoScript.ts'
import { agentIn, places } from './everyState.ts'

const endReason = (script: AgentScript) => script.driver.recordsOf('run.end').at(-1)?.reason

describe('limits', (it) => {
  const cases = [
    { limits: { turns: 1 }, expected: { type: 'limit', limit: 'turns', allowed: 1, used: 1 } },
    { limits: { tokens: 10 }, expected: { type: 'limit', limit: 'tokens', allowed: 10, used: 12 } },
    { limits: { costUsd: 0.5 }, expected: { type: 'limit', limit: 'costUsd', allowed: 0.5, used: 0.75 } },
  ] as const
  for (const { limits, expected } of cases) {
    it(`on ${expected.limit} pause the run before the next turn, and a resume goes on from there`, () => {
      const script = new AgentScript({ limits })
      script.prompt('go')
      script.reply({ calls: ['c1'], usage: { input: 8, output: 4 }, costUsd: 0.75 })
      assert.is(script.state, 'executing')
      script.finishCall('c1')
      assert.is(script.state, 'paused')
      assert.equal(script.context.pause, expected)
      assert.equal(endReason(script), expected)
      assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, 'paused')
      script.resume({ turns: 7 })
      assert.is(script.state, 'replying.requesting')
      const start = script.driver.recordsOf('run.start')[1]
      assert.is(start?.cause, 'resume')
      assert.is(start?.resumedFrom, 'a/r0')
      assert.is(start?.limits.turns, 7)
      script.reply()
      assert.is(script.state, 'idle')
      assert.is(script.driver.recordsOf('message.added').length, 1)
    })
  }

  it('do not pause a run that has nothing left to do', () => {
    const script = new AgentScript({ limits: { turns: 1, tokens: 1, costUsd: 0.01 } })
    script.prompt('go')
    script.reply({ usage: { input: 9 }, costUsd: 9 })
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, 'stop')
  })

  it('pause a run whose people have said more', () => {
    const script = new AgentScript({ limits: { turns: 1 } })
    script.prompt('go')
    script.followUp('more')
    script.reply()
    assert.is(script.state, 'paused')
    script.resume()
    assert.is(script.driver.recordsOf('message.added').length, 2)
  })

  it('count cached tokens, and add up over turns', () => {
    const script = new AgentScript({ limits: { tokens: 20 } })
    script.prompt('go')
    script.reply({ calls: ['c1'], usage: { input: 3, cacheRead: 10 } })
    script.finishCall('c1')
    assert.is(script.state, 'replying.requesting')
    script.reply({ calls: ['c2'], usage: { cacheWrite: 7 } })
    script.finishCall('c2')
    assert.is(script.state, 'paused')
  })

  it('start over with each run', () => {
    const script = new AgentScript({ limits: { turns: 2 } })
    for (let i = 0; i < 3; i++) {
      script.prompt('go')
      script.reply({ calls: [`c${i}`] })
      script.finishCall(`c${i}`)
      assert.is(script.state, 'replying.requesting')
      script.reply()
    }
    assert.is(script.state, 'idle')
  })

  it('are dropped with the rest of the run by a new prompt', () => {
    const script = agentIn('paused by a limit')
    script.prompt('something else')
    assert.is(script.state, 'replying.requesting')
    assert.is(script.context.pause, null)
    assert.is(script.driver.recordsOf('run.start')[1]?.resumedFrom, undefined)
  })

  it('leave nothing waiting after an abort', () => {
    const script = new AgentScript({ limits: { turns: 1 } })
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.steer('s')
    script.followUp('f')
    script.finishCall('c1')
    assert.is(script.state, 'paused')
    script.abort()
    assert.is(script.state, 'idle')
    assert.is(script.context.pause, null)
    assert.equal([script.context.steering.length, script.context.followUps.length], [0, 0])
    const before = script.driver.records.length
    script.resume()
    assert.is(script.state, 'idle')
    assert.equal(script.types(before), [])
  })
})

describe('the wall time', (it) => {
  const expected = { type: 'limit', limit: 'ms', allowed: 1_000, used: 1_000 }

  for (const place of [
    'replying.requesting',
    'replying.streaming',
    'backoff',
    'compacting',
    'compacting for an overflow',
  ] as const) {
    it(`ends ${place} at once`, () => {
      const script = agentIn(place, { limits: { ms: 1_000 } })
      script.wake('deadline')
      assert.is(script.state, 'paused')
      assert.equal(script.underway, [])
      assert.equal(endReason(script), expected)
    })
  }

  for (const place of [
    'executing',
    'draining.checking',
    'draining.reverts',
    'draining.grafts',
    'draining.prunes',
    'draining.folding',
  ] as const) {
    it(`lets ${place} end first`, () => {
      const script = agentIn(place, { limits: { ms: 1_000 } })
      script.wake('deadline')
      assert.is(script.state, place)
      if (place === 'executing') for (const callId of ['c1', 'c2']) script.finishCall(callId)
      if (place === 'draining.reverts') script.drain('drainReverts')
      if (place === 'draining.grafts') script.drain('drainGrafts')
      if (place === 'draining.prunes') script.drain('drainPrunes')
      if (place === 'draining.folding') script.fold()
      if (place === 'draining.checking') script.check()
      assert.is(script.state, 'paused')
      assert.equal(endReason(script), expected)
    })
  }

  it('does not pause a run that has nothing left to do', () => {
    const script = new AgentScript({
      limits: { ms: 1_000 },
      flags: { revert: true, prune: false, fold: false, stall: false, policies: false, compact: false },
    })
    script.prompt('go')
    script.revert('n1')
    script.reply()
    script.wake('deadline')
    script.drain('drainReverts')
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, 'stop')
  })

  it('during an abort changes nothing', () => {
    const script = agentIn('settling', { limits: { ms: 1_000 } })
    script.wake('deadline')
    script.settle()
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, 'aborted')
  })

  it('of an earlier run does not touch a later one', () => {
    const script = new AgentScript({ limits: { ms: 1_000 } })
    script.prompt('one')
    const old = script.driver.child('sleep', 'deadline')
    script.reply()
    script.prompt('two')
    script.driver.finish(old, old.input)
    assert.is(script.state, 'replying.requesting')
    assert.equal(script.underway.toSorted(), ['deadline', 'streamReply'])
  })

  it('is armed once a run and disarmed with it', () => {
    const script = new AgentScript({ limits: { ms: 1_000 } })
    script.prompt('one')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    script.reply()
    assert.equal(script.underway, [])
    assert.is(script.driver.started.filter(({ id }) => id === 'deadline').length, 1)
  })

  it('starts over when a paused run is resumed', () => {
    const script = agentIn('replying.requesting', { limits: { ms: 1_000 } })
    script.wake('deadline')
    script.driver.now = 50_000
    script.resume()
    assert.is(script.driver.child('sleep', 'deadline').input.until, 51_000)
    assert.is(script.state, 'replying.requesting')
  })

  it('of a queued prompt starts when the run before has ended, compaction and all', () => {
    const script = new AgentScript({ limits: { ms: 1_000 } })
    script.prompt('one')
    script.prompt('two')
    script.reply({ contextTokens: 20_000 })
    script.driver.now += 900
    script.compact()
    assert.is(script.driver.child('sleep', 'deadline').input.until, script.driver.now + 1_000)
  })

  it('whose sleep breaks is as good as none', () => {
    const script = agentIn('replying.requesting', { limits: { ms: 1_000 } })
    script.driver.crash(script.driver.child('sleep', 'deadline'), 'no timer')
    assert.is(script.state, 'replying.requesting')
    script.reply()
    assert.is(script.state, 'idle')
  })
})

describe('a store that fails', (it) => {
  for (const place of places.filter((one) => one !== 'stopped')) {
    it(`pauses an agent that is ${place}, as soon as nothing runs; a resume clears it`, () => {
      const script = agentIn(place)
      script.failStore()
      if (script.state === 'executing') for (const callId of ['c1', 'c2']) script.finishCall(callId)
      if (script.state === 'draining.pins') script.drain('drainPins')
      if (script.state === 'draining.reverts') script.drain('drainReverts')
      if (script.state === 'draining.grafts') script.drain('drainGrafts')
      if (script.state === 'draining.undoing') undo(script, {}, { notStarted: diskFull })
      if (script.state === 'draining.prunes') script.drain('drainPrunes')
      if (script.state === 'draining.folding') script.fold()
      if (script.state === 'draining.checking') script.check()
      if (script.state === 'draining.consulting') script.consult()
      if (script.state === 'settling') script.settle()
      if (place === 'paused for approvals') script.approve('c1')
      assert.is(script.state, 'paused')
      assert.equal(script.underway, [])
      if (place !== 'paused by a limit') assert.is(script.context.pause?.type, 'store')
      script.resume()
      assert.is(script.context.storeError, null)
      assert.ok(script.state !== 'paused' || script.context.pause?.type === 'approvals', `it is ${script.state}`)
      assert.equal(
        new Set(script.driver.recordsOf('tool.end').map(({ callId }) => callId)).size,
        script.driver.recordsOf('tool.end').length,
      )
    })
  }

  it('starts no further call, and after the resume runs those that have not', () => {
    const script = new AgentScript({ toolExecution: 'sequential' })
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2'] })
    script.failStore()
    assert.equal(script.underway, ['c1'])
    script.finishCall('c1', { notStarted: diskFull })
    assert.is(script.state, 'paused')
    assert.is(script.driver.recordsOf('tool.end').length, 0)
    assert.is(script.driver.recordsOf('run.end')[0]?.error?.message, 'the disk is full')
    script.resume()
    assert.equal(script.underway, ['c1'])
    assert.is(script.call('c1').input.key, 'a/t0/tool/c1')
    script.finishCall('c1')
    script.finishCall('c2')
    assert.is(script.state, 'replying.requesting')
    assert.is(script.driver.recordsOf('tool.end').length, 2)
  })

  it('does not take a prompt until it is resumed', () => {
    const script = agentIn('paused by the store')
    const runs = script.driver.recordsOf('run.start').length
    script.prompt('more')
    assert.is(script.state, 'paused')
    assert.is(script.driver.recordsOf('run.start').length, runs)
  })

  it('at rest pauses without a run, and goes back to rest', () => {
    const script = new AgentScript()
    script.failStore()
    assert.is(script.state, 'paused')
    assert.equal(script.types(), ['agent.created'])
    script.resume()
    assert.is(script.state, 'idle')
    assert.is(script.context.pause, null)
  })
})
