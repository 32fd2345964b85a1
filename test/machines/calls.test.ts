import { assert, describe } from '../support/suite.ts'
import type { CallState } from '../../src/machines/agentTypes.ts'
import type { ToolExecution } from '../../src/machines/agentPolicy.ts'
import { startable } from '../../src/machines/calls.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { AgentScript, text } from './agentScript.ts'

const ends = (script: AgentScript) =>
  script.driver
    .recordsOf('tool.end')
    .map(({ callId, message }) => `${callId}${message.synthetic === undefined ? '' : ` ${message.synthetic}`}`)

const statusOf: Readonly<Record<string, CallState['status']>> = {
  w: 'ready',
  h: 'held',
  r: 'running',
  p: 'paused',
  s: 'settled',
}

const held = (callId: string) => ({ callId, held: true })

describe('tool calls', (it) => {
  it('of a reply that is not whole start nothing and wait for nobody, whatever was planned', () => {
    for (const [stopReason, state] of [
      ['length', 'replying.requesting'],
      ['refusal', 'idle'],
    ] as const) {
      const script = new AgentScript({ agents: ['helper'] })
      script.prompt('go')
      script.reply({ stopReason, calls: ['c1', held('c2'), { callId: 'c3', name: 'helper' }] })
      assert.is(script.state, state)
      assert.equal(ends(script), ['c1 refused', 'c2 refused', 'c3 refused'])
      assert.equal(script.driver.recordsOf('approval.requested'), [])
      assert.equal(script.driver.recordsOf('tool.start'), [])
    }
  })

  it('all start at once in parallel, their intents recorded before; the next turn waits for the last', () => {
    const script = new AgentScript({ toolExecution: 'parallel' })
    script.prompt('go')
    const before = script.driver.records.length
    script.reply({ calls: ['c1', 'c2', 'c3'] })
    assert.is(script.state, 'executing')
    assert.equal(script.underway, ['c1', 'c2', 'c3'])
    assert.equal(script.types(before), ['reply.end', 'tool.start', 'tool.start', 'tool.start'])
    script.finishCall('c3')
    script.finishCall('c1')
    assert.is(script.state, 'executing')
    script.finishCall('c2')
    assert.is(script.state, 'replying.requesting')
    assert.is(script.driver.child('streamReply').input.key, 'a/t1/reply/1')
    assert.equal(ends(script), ['c3', 'c1', 'c2'])
    assert.equal(
      script.driver.recordsOf('tool.end').map(({ nodeId, parentId }) => [nodeId, parentId]),
      [
        [5, 4],
        [3, 2],
        [4, 3],
      ],
    )
    assert.is(script.context.head, 5)
  })

  it('beyond the most of a reply are answered, not run, and every call has its result in its place', () => {
    for (const toolExecution of ['parallel', 'sequential'] as const) {
      const script = new AgentScript({ toolExecution, maxCallsPerReply: 2, agents: ['helper'] })
      script.prompt('go')
      const before = script.driver.records.length
      script.reply({ calls: ['c1', held('c2'), held('c3'), { callId: 'c4', name: 'helper' }, 'c5'] })
      assert.equal(ends(script), ['c3 refused', 'c4 refused', 'c5 refused'])
      assert.is(script.types(before).filter((type) => type === 'approval.requested').length, 1)
      assert.equal(script.underway, ['c1'])
      const [refused] = script.driver.recordsOf('tool.end')
      assert.ok(refused!.message.isError)
      assert.is(
        textOf(refused!.message.content),
        'Not run: this reply made 5 calls, and only the first 2 of a reply are run. Make those you still need in your next reply.',
      )
      script.finishCall('c1')
      script.driver.send({ type: 'decide', callId: 'c2', decision: 'deny', at: 0 })
      assert.is(script.state, 'replying.requesting')
      assert.equal(
        script.driver
          .recordsOf('tool.end')
          .map(({ callId, nodeId, parentId }) => [callId, nodeId, parentId])
          .toSorted(([a], [b]) => String(a).localeCompare(String(b))),
        ['c1', 'c2', 'c3', 'c4', 'c5'].map((callId, nth) => [callId, nth + 3, nth + 2]),
      )
    }
  })

  it('run one after the other in sequence', () => {
    const script = new AgentScript({ toolExecution: 'sequential' })
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2', 'c3'] })
    for (const callId of ['c1', 'c2', 'c3']) {
      assert.equal(script.underway, [callId])
      script.finishCall(callId)
    }
    assert.is(script.state, 'replying.requesting')
  })

  it('run in batches: the next starts when the whole batch is done', () => {
    const script = new AgentScript({ toolExecution: { batch: 2 } })
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2', 'c3', 'c4', 'c5'] })
    assert.equal(script.underway, ['c1', 'c2'])
    script.finishCall('c2')
    assert.equal(script.underway, ['c1'])
    script.finishCall('c1')
    assert.equal(script.underway, ['c3', 'c4'])
    script.finishCall('c3')
    script.finishCall('c4')
    assert.equal(script.underway, ['c5'])
  })

  it('are no more than a hundred at once, however many a reply has', () => {
    const callIds = Array.from({ length: 250 }, (_, index) => `c${index}`)
    const script = new AgentScript({ toolExecution: 'parallel', maxCallsPerReply: 250 })
    script.prompt('go')
    script.reply({ calls: callIds })
    assert.equal(script.underway, callIds.slice(0, 100))
    for (const [index, callId] of callIds.entries()) {
      script.finishCall(callId)
      assert.is(script.underway.length, Math.min(100, 249 - index) || 1)
    }
    assert.equal(ends(script), callIds)
    assert.is(script.state, 'replying.requesting')
  })

  it('change no context that was given out: its calls stay as they were', () => {
    const script = new AgentScript({ toolExecution: 'parallel' })
    script.prompt('go')
    script.reply({ calls: ['c1', held('c2'), 'c3'] })
    const statuses = (calls: readonly CallState[]): string[] => calls.map(({ status }) => status)
    const { calls } = script.context
    assert.equal(statuses(calls), ['running', 'held', 'running'])
    script.finishCall('c1')
    script.driver.send({ type: 'decide', callId: 'c2', decision: 'deny', at: 10 })
    assert.equal(statuses(script.context.calls), ['settled', 'settled', 'running'])
    assert.equal(statuses(calls), ['running', 'held', 'running'])
  })

  it('start where none before them waits, as many as may run', () => {
    const order = (letters: string, mode: ToolExecution): number[] =>
      startable(
        [...letters].map((letter) => ({ status: statusOf[letter]! }) as CallState),
        mode,
      )
    for (const [letters, mode, starts] of [
      ['', 'parallel', []],
      ['ss', 'parallel', []],
      ['srwhp', 'parallel', [2]],
      ['wwwrw', 'parallel', [0, 1, 2, 4]],
      ['sww', 'sequential', [1]],
      ['srw', 'sequential', []],
      ['shw', 'sequential', []],
      ['swwww', { batch: 2 }, [1]],
      ['ssswww', { batch: 2 }, [3]],
      ['sssswww', { batch: 2 }, [4, 5]],
      ['shwww', { batch: 3 }, [2]],
    ] as const)
      assert.equal(order(letters, mode), starts, `${letters} ${JSON.stringify(mode)}`)
    assert.is(order('r'.repeat(98) + 'w'.repeat(5), 'parallel').length, 2)
    assert.is(order('r'.repeat(101) + 'w', 'parallel').length, 0)
  })

  it('in a batch wait for the slowest of it', () => {
    const script = new AgentScript({ toolExecution: { batch: 2 } })
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2', 'c3'] })
    script.finishCall('c1')
    assert.equal(script.underway, ['c2'])
    script.finishCall('c2')
    assert.equal(script.underway, ['c3'])
  })

  it('have a key made of agent, turn and call', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [{ callId: 'c1', input: { path: 'x' } }] })
    assert.equal(script.call('c1').input, {
      agentId: 'a',
      runId: 'a/r0',
      turnIndex: 0,
      key: 'a/t0/tool/c1',
      callId: 'c1',
      name: 'tool',
      input: { path: 'x' },
    })
    assert.is(script.driver.recordsOf('tool.start')[0]?.key, 'a/t0/tool/c1')
  })

  it('whose runner breaks get an error the model can read', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2'] })
    script.driver.crash(script.call('c1'), 'segmentation fault')
    assert.is(script.state, 'executing')
    const [end] = script.driver.recordsOf('tool.end')
    assert.is(end?.message.isError, true)
    assert.match(textOf(end?.message.content ?? []), /segmentation fault/)
    script.finishCall('c2')
    assert.is(script.state, 'replying.requesting')
  })

  it('take a result once, and only under their key', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2'] })
    const child = script.call('c1')
    const output = { key: child.input.key, content: text('x'), isError: false, tokens: 0, at: 1 }
    script.driver.send({ type: 'xstate.done.actor.call.0', output: { ...output, key: 'a/t0/tool/c9' } })
    assert.equal(ends(script), [])
    script.driver.finish(child, output)
    script.driver.finish(child, output)
    script.driver.crash(child, 'late')
    assert.equal(ends(script), ['c1'])
    assert.is(script.state, 'executing')
  })

  it('drop a result of an earlier step that comes late', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    const old = script.call('c1')
    script.abort()
    script.settle()
    script.prompt('again')
    script.reply({ calls: ['c2'] })
    const before = script.driver.records.length
    script.driver.finish(old, { key: old.input.key, content: text('late'), isError: false, tokens: 0, at: 1 })
    assert.equal(script.types(before), [])
    assert.equal(script.underway, ['c2'])
  })

  it('add their size to what the context holds', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2'], contextTokens: 100 })
    script.finishCall('c1', { tokens: 20 })
    script.finishCall('c2', { tokens: 3 })
    assert.is(script.context.contextTokens, 123)
  })
})

describe('approvals', (it) => {
  it('hold a call, run the others, and pause the agent once nothing else runs', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [held('c1'), 'c2'] })
    assert.is(script.state, 'executing')
    assert.equal(script.underway, ['c2'])
    assert.equal(
      script.driver.recordsOf('approval.requested').map(({ callId }) => callId),
      ['c1'],
    )
    script.finishCall('c2')
    assert.is(script.state, 'paused')
    assert.equal(script.context.pause, { type: 'approvals', callIds: ['c1'] })
    assert.is(script.driver.recordsOf('run.end').length, 0)
    script.approve('c1')
    assert.is(script.state, 'executing')
    assert.is(script.context.pause, null)
    script.finishCall('c1')
    assert.is(script.state, 'replying.requesting')
    assert.equal(
      script.driver.recordsOf('approval.decided').map(({ decision }) => decision),
      ['approve'],
    )
  })

  it('answer a denied call with the reason, and do not run it', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [held('c1')] })
    script.deny('c1', 'too dangerous')
    assert.is(script.state, 'replying.requesting')
    assert.equal(ends(script), ['c1 denied'])
    const [end] = script.driver.recordsOf('tool.end')
    assert.is(end?.message.isError, true)
    assert.match(textOf(end?.message.content ?? []), /Denied.*too dangerous/)
    assert.is(script.driver.recordsOf('tool.start').length, 0)
    assert.is(script.driver.recordsOf('approval.decided')[0]?.reason, 'too dangerous')
  })

  it('may be decided while other calls run', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [held('c1'), held('c2'), 'c3'] })
    script.approve('c1')
    script.deny('c2')
    assert.equal(script.underway, ['c3', 'c1'])
    script.finishCall('c1')
    script.finishCall('c3')
    assert.is(script.state, 'replying.requesting')
  })

  it('keep the order in sequence: an approved call waits for those before it', () => {
    const script = new AgentScript({ toolExecution: 'sequential' })
    script.prompt('go')
    script.reply({ calls: [held('c1'), held('c2')] })
    script.approve('c2')
    assert.is(script.state, 'paused')
    assert.equal(script.context.pause, { type: 'approvals', callIds: ['c1'] })
    script.approve('c1')
    assert.equal(script.underway, ['c1'])
    script.finishCall('c1')
    assert.equal(script.underway, ['c2'])
  })

  it('ignore a decision on a call that does not wait', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [held('c1')] })
    const before = script.driver.records.length
    script.approve('c9')
    assert.is(script.state, 'paused')
    assert.equal(script.types(before), [])
    script.approve('c1')
    script.deny('c1')
    assert.equal(script.types(before), ['approval.decided', 'tool.start'])
    assert.equal(script.underway, ['c1'])
  })

  it('are skipped by steering', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [held('c1'), held('c2')] })
    script.steer('rather not')
    assert.equal(ends(script), ['c1 skipped', 'c2 skipped'])
    assert.is(script.state, 'replying.requesting')
    assert.equal(
      script.driver.recordsOf('message.added').map(({ message }) => message.source),
      ['prompt', 'steering'],
    )
  })

  it('are answered by an abort', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [held('c1')] })
    script.abort()
    assert.is(script.state, 'settling')
    script.settle()
    assert.is(script.state, 'idle')
    assert.equal(ends(script), ['c1 aborted'])
    assert.is(script.context.pause, null)
  })

  it('are not resumed: only decisions, steering and an abort go on', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: [held('c1')] })
    const before = script.driver.records.length
    script.resume()
    assert.is(script.state, 'paused')
    script.prompt('another')
    assert.is(script.state, 'paused')
    assert.equal(script.types(before), ['queue.changed'])
  })

  it('do not count against the wall time', () => {
    const script = new AgentScript({ limits: { ms: 1_000 } })
    script.prompt('go')
    script.reply({ calls: [held('c1')] })
    assert.equal(script.underway, [])
    script.driver.now += 5_000
    script.approve('c1')
    assert.is(script.driver.child('sleep', 'deadline').input.until, 2_000 + 5_000)
  })

  it('hold the wall time once, however many decisions it takes', () => {
    const script = new AgentScript({ limits: { ms: 1_000 } })
    script.prompt('go')
    script.reply({ calls: [held('c1'), held('c2')] })
    script.driver.now += 100
    script.deny('c1')
    script.driver.now += 100
    script.approve('c2')
    assert.is(script.driver.child('sleep', 'deadline').input.until, 2_000 + 200)
  })

  it('hold the wall time once, whatever unknown call is decided meanwhile', () => {
    const script = new AgentScript({ limits: { ms: 1_000 } })
    script.prompt('go')
    script.reply({ calls: [held('c1')] })
    for (let i = 0; i < 3; i++) {
      script.driver.now += 100
      script.approve('unheard-of')
    }
    script.approve('c1')
    assert.is(script.driver.child('sleep', 'deadline').input.until, 2_000 + 300)
  })
})
