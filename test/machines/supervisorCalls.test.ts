import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import { noUsage, textOf } from '../../src/protocol/messages.ts'
import { moves, policies } from '../support/arbitraries.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'
import { Wanderer } from './wanderer.ts'

const helper = (callId: string) => ({ callId, name: 'helper' })
const spent = (output: number, turns = 1) => ({ usage: { ...noUsage, output }, costUsd: 0, turns })

/** An agent whose reply called these helpers. */
function calling(callIds: readonly string[], policy: Partial<AgentPolicy> = {}): AgentScript {
  const script = new AgentScript({ agents: ['helper'], ...policy })
  script.prompt('go')
  script.reply({ calls: callIds.map(helper) })
  return script
}

const children = (script: AgentScript) =>
  script.driver.started.flatMap((child) => (child.src === 'subAgent' ? [child.input] : []))
const results = (script: AgentScript): string[] =>
  script.driver.recordsOf('tool.end').map(({ message }) => textOf(message.content))

describe('a call of a sub-agent', (it) => {
  it('begins a child under an id of its own, and says so in the log', () => {
    const script = calling(['c1', 'c2'])
    assert.equal(
      children(script).map(({ callId, childId, name }) => [callId, childId, name]),
      [
        ['c1', 'a.1', 'helper'],
        ['c2', 'a.2', 'helper'],
      ],
    )
    assert.equal(
      script.driver.recordsOf('tool.start').map(({ childId }) => childId),
      ['a.1', 'a.2'],
    )
  })

  it('counts what the child used, and its turns, against the run', () => {
    const script = calling(['c1'], { limits: { turns: 4 } })
    script.finishCall('c1', { spent: spent(30, 3) })
    assert.is(script.state, 'paused')
    assert.equal(script.context.pause, { type: 'limit', limit: 'turns', allowed: 4, used: 4 })
    assert.is(script.driver.recordsOf('run.end')[0]?.usage.output, 30)
    assert.equal(script.driver.recordsOf('tool.end')[0]?.spent, spent(30, 3))
  })

  it('that used up the limit of the run stays open over the pause; what is used is counted once', () => {
    const script = calling(['c1', 'c2'], { limits: { turns: 5 }, toolExecution: 'sequential' })
    const over = { isError: true, isOverAllowance: true }
    assert.equal(children(script)[0]?.allowance, { turns: 2 })
    script.finishCall('c1', { ...over, spent: spent(10, 2) })
    assert.equal(results(script).length, 1, 'its share alone is no reason to pause')
    assert.equal(children(script)[1]?.allowance, { turns: 2 })
    script.finishCall('c2', { ...over, spent: spent(10, 2) })
    assert.is(script.state, 'paused')
    const { key } = children(script)[1]!
    const ends = () => script.driver.recordsOf('run.end')
    assert.equal(ends()[0]?.unfinished, [{ callId: 'c2', spent: spent(10, 2) }])
    assert.equal([ends()[0]?.turns, ends()[0]?.childTurns, ends()[0]?.usage.output], [1, 4, 20])
    script.resume({ turns: 3 })
    assert.equal([script.state, script.underway], ['executing', ['c2']])
    assert.equal([children(script)[2]?.key, children(script)[2]?.childId], [key, 'a.2'])
    assert.equal(children(script)[2]?.allowance, { turns: 3 })
    script.finishCall('c2', { ...over, spent: spent(10, 3) })
    assert.equal(ends()[1]?.unfinished, [{ callId: 'c2', spent: spent(10, 3) }])
    assert.equal(script.context.calls[1]?.counted, spent(20, 5))
    script.resume()
    script.finishCall('c2', { spent: spent(1, 1) })
    assert.is(script.state, 'replying.requesting')
    script.reply()
    assert.equal([ends()[2]?.turns, ends()[2]?.childTurns, ends()[2]?.usage.output], [1, 1, 1])
  })

  for (const end of ['prompt', 'abort', 'stop'] as const) {
    it(`that waits for a new allowance is answered by a ${end}, and counted no more`, () => {
      const script = calling(['c1'], { limits: { turns: 2 } })
      script.finishCall('c1', { isError: true, isOverAllowance: true, spent: spent(10, 1) })
      assert.is(script.state, 'paused')
      if (end === 'prompt') script.prompt('something else')
      else script[end]()
      assert.equal(
        script.driver.recordsOf('tool.end').map((record) => [record.callId, record.spent]),
        [['c1', undefined]],
      )
      assert.equal(script.context.calls, [])
      if (end === 'prompt') assert.is(script.context.run?.usage.output, 0)
    })
  }

  it('that waits for a new allowance is counted by the abort of its run, while others run', () => {
    const script = new AgentScript({ agents: ['helper'], limits: { turns: 2 } })
    script.prompt('go')
    script.reply({ calls: [helper('c1'), 'c2'] })
    script.finishCall('c1', { isError: true, isOverAllowance: true, spent: spent(10, 1) })
    assert.equal([script.state, script.underway], ['executing', ['c2']])
    script.abort()
    const settle = script.driver.child('settle')
    const { key } = children(script)[0]!
    script.driver.finish(settle, { key: settle.input.key, at: 1, partial: null, spent: { [key]: spent(10, 1) } })
    assert.equal(
      script.driver.recordsOf('tool.end').map((record) => record.spent),
      [spent(10, 1), undefined],
    )
    assert.is(script.driver.recordsOf('run.end')[0]?.usage.output, 10)
    assert.is(script.driver.recordsOf('run.end')[0]?.unfinished, undefined)
  })

  it('that waits for a new allowance is skipped by steering while others run, and what it used stays counted', () => {
    const script = new AgentScript({ agents: ['helper'], limits: { turns: 2 } })
    script.prompt('go')
    script.reply({ calls: [helper('c1'), 'c2'] })
    script.finishCall('c1', { isError: true, isOverAllowance: true, spent: spent(10, 1) })
    script.steer('something else')
    assert.equal(
      script.driver.recordsOf('tool.end').map(({ callId, message, spent: used }) => [callId, message.synthetic, used]),
      [['c1', 'skipped', spent(10, 1)]],
    )
  })

  it('has a share beside calls that wait: for a person, for their turn, for their hook', () => {
    const waiting = (second: object, policy = {}): unknown => {
      const script = new AgentScript({ agents: ['helper'], limits: { tokens: 100 }, ...policy })
      script.prompt('go')
      script.reply({ calls: [helper('c1'), { ...helper('c2'), ...second }] })
      return children(script)[0]?.allowance
    }
    assert.equal(waiting({ held: true }), { tokens: 50 })
    assert.equal(waiting({}, { toolExecution: 'sequential' }), { tokens: 50 })
    assert.equal(waiting({ name: 'tool' }), { tokens: 100 })
  })

  it('shares what is left of the limits evenly, and keeps what running ones have reserved', () => {
    const script = calling(['c1', 'c2', 'c3'], { limits: { tokens: 100, turns: 10, costUsd: 3 }, maxChildren: 2 })
    assert.equal(
      children(script).map(({ allowance }) => allowance),
      [
        { turns: 3, tokens: 33, costUsd: 1 },
        { turns: 3, tokens: 33, costUsd: 1 },
      ],
    )
    script.finishCall('c1', { spent: { usage: { ...noUsage, output: 13 }, costUsd: 0.5, turns: 1 } })
    assert.equal(children(script)[2]?.allowance, { turns: 5, tokens: 54, costUsd: 1.5 })
  })

  it('has no more wall time than its caller, and is refused once that is over', () => {
    const script = new AgentScript({ agents: ['helper'], limits: { ms: 10_000 }, toolExecution: 'sequential' })
    script.prompt('go')
    script.driver.now += 4_000
    script.reply({ calls: [helper('c1'), helper('c2')] })
    assert.equal(children(script)[0]?.allowance, { ms: 6_000 })
    script.driver.now += 6_000
    script.finishCall('c1')
    assert.match(results(script)[1]!, /budget of this run is used up/)
  })

  it('waits for a free place, and is refused when none can come free', () => {
    const script = calling(['c1', 'c2', 'c3'], { maxChildren: 1 })
    assert.is(children(script).length, 1)
    script.finishCall('c1')
    assert.is(children(script).length, 2)
    script.finishCall('c2')
    script.finishCall('c3')
    assert.is(script.state, 'replying.requesting')
    const full = new AgentScript({ agents: ['helper'], maxChildren: 1 })
    full.spawn('a.s1')
    full.prompt('go')
    full.reply({ calls: [helper('c1')] })
    assert.match(results(full)[0]!, /1 are alive, the most allowed/)
    assert.is(full.state, 'replying.requesting')
  })

  for (const toolExecution of ['parallel', 'sequential', { batch: 2 }] as const) {
    it(`that is refused does not keep the others from their end: ${JSON.stringify(toolExecution)}`, () => {
      const full = new AgentScript({ agents: ['helper'], maxChildren: 1, toolExecution })
      full.spawn('a.s1')
      full.prompt('go')
      full.reply({ calls: [helper('c1'), helper('c2'), helper('c3'), 'c4', helper('c5')] })
      if (full.state === 'executing') full.finishCall('c4')
      assert.is(full.state, 'replying.requesting')
      assert.is(results(full).length, 5)
      const broke = calling(['c1', 'c2', 'c3'], { limits: { costUsd: 0.1 }, toolExecution })
      broke.finishCall('c1', { spent: { usage: noUsage, costUsd: 1, turns: 1 } })
      for (const callId of ['c2', 'c3']) if (broke.underway.includes(callId)) broke.finishCall(callId)
      assert.is(broke.state, 'paused')
    })
  }

  it('is refused when the budget is used up', () => {
    const script = new AgentScript({ agents: ['helper'], limits: { tokens: 10 } })
    script.prompt('go')
    script.reply({ usage: { output: 10 }, calls: [helper('c1')] })
    assert.match(results(script)[0]!, /budget of this run is used up/)
    assert.equal(children(script), [])
  })

  it('tells the child of an abort and lets it bring its log in order, but begins none that waits', () => {
    const script = calling(['c1', 'c2'], { maxChildren: 1 })
    script.abort()
    assert.equal(script.driver.told, [{ id: 'call.0', type: 'abort' }])
    assert.equal(script.underway.toSorted(), ['c1', 'settle'])
    script.finishCall('c1', { spent: spent(9) })
    const { key } = children(script)[0]!
    const settle = script.driver.child('settle')
    script.driver.finish(settle, {
      key: settle.input.key,
      at: script.driver.now,
      partial: null,
      spent: { [key]: spent(9) },
    })
    assert.is(script.state, 'idle')
    assert.is(children(script).length, 1)
    assert.equal(
      script.driver.recordsOf('tool.end').map((end) => end.spent),
      [spent(9), undefined],
    )
    assert.is(script.driver.recordsOf('run.end')[0]?.usage.output, 9)
  })
})

describe('a child that code gave', (it) => {
  const withChild = (): AgentScript => {
    const script = new AgentScript({ agents: ['helper'] })
    script.spawn('a.s1')
    return script
  }

  it('is begun at once, and told to stop and close with the agent, which waits for it', () => {
    for (const type of ['stop', 'close'] as const) {
      const script = withChild()
      script.driver.send({ type })
      assert.equal(script.driver.told, [{ id: 'child.0', type }])
      assert.is(script.driver.status, 'active')
      script.endChild('a.s1')
      assert.is(script.state, 'stopped')
      assert.equal(
        script.types().slice(-2),
        type === 'stop' ? ['child.ended', 'agent.stopped'] : ['child.spawned', 'child.ended'],
      )
    }
  })

  it('gives its place back when it ends, and the place is used again', () => {
    const script = withChild()
    script.spawn('a.s2')
    script.endChild('a.s1')
    script.spawn('a.s3')
    assert.equal(
      script.context.attached.map(({ childId, slot }) => [childId, slot]),
      [
        ['a.s2', 'child.1'],
        ['a.s3', 'child.0'],
      ],
    )
  })

  it('that fails is gone as well, so that the agent can stop', () => {
    const script = withChild()
    const child = script.driver.child('subAgent')
    script.driver.crash(child, 'the supervisor broke')
    assert.equal(script.context.attached, [])
    assert.is(script.driver.recordsOf('child.ended').length, 1)
    script.stop()
    assert.is(script.state, 'stopped')
  })

  it('is waited for without a new run being begun', () => {
    for (const type of ['stop', 'close'] as const) {
      const script = withChild()
      script.prompt('one')
      script.prompt('two')
      script.driver.send({ type })
      script.settle()
      assert.is(script.state, 'idle')
      assert.is(script.driver.recordsOf('run.start').length, 1)
      script.prompt('three')
      assert.is(script.state, 'idle')
      script.endChild('a.s1')
      assert.is(script.state, 'stopped')
    }
  })

  it('hears of an abort even when the agent itself is at rest', () => {
    const script = withChild()
    script.abort()
    assert.equal(script.driver.told, [{ id: 'child.0', type: 'abort' }])
    assert.is(script.state, 'idle')
  })
})

describe('any road of an agent with children', (it) => {
  it('ends once it was stopped and its children have ended', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(policies, moves({ maxLength: 40 }), (policy, road) => {
        const wanderer = new Wanderer({ ...policy, agents: ['helper'] })
        for (const move of road) wanderer.play(move)
        wanderer.driver.send({ type: 'stop' })
        wanderer.rest()
        assert.is(wanderer.driver.state, 'stopped')
        assert.is(wanderer.driver.recordsOf('child.ended').length, wanderer.driver.recordsOf('child.spawned').length)
      }),
      { seed: 20_260_101, numRuns: someRuns(300) },
    )
  })

  it('never has more children than allowed, nor spends a reserve twice', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(policies, moves({ maxLength: 40 }), (policy, road) => {
        const wanderer = new Wanderer({ ...policy, agents: ['helper'] })
        for (const move of road) {
          const attached = move.do === 'spawn' ? 0 : wanderer.driver.context.attached.length
          wanderer.play(move)
          const {
            calls,
            run,
            policy: { maxChildren },
          } = wanderer.driver.context
          const running = calls.filter(({ status, childId }) => status === 'running' && childId !== undefined)
          assert.ok(
            running.length === 0 || running.length + attached <= Math.max(maxChildren, attached + 1),
            'too many',
          )
          for (const limit of ['turns', 'tokens', 'costUsd'] as const) {
            const allowed = run?.limits[limit]
            if (allowed === undefined || run === null) continue
            const reserved = running.reduce((sum, call) => sum + (call.allowance?.[limit] ?? 0), 0)
            assert.ok(reserved <= allowed + 1e-9, `${reserved} ${limit} of ${allowed} are reserved`)
          }
        }
      }),
      { seed: 20_260_101, numRuns: someRuns(300) },
    )
  })
})
