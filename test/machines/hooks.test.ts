import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import type { CallVerdict } from '../../src/machines/effectTypes.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { testPolicy } from '../support/machineDriver.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, diskFull, hookAsked, text } from './agentScript.ts'

const flags = { ...testPolicy.flags, beforeTool: true } as const
const allowed: CallVerdict = { type: 'allowed', needsApproval: false }

/** An agent with `beforeTool` whose model has just made these calls. */
function calling(calls: readonly string[], policy: Partial<AgentPolicy> = {}): AgentScript {
  const script = new AgentScript({ flags, ...policy })
  script.prompt('go')
  script.reply({ calls })
  return script
}

const statuses = (script: AgentScript) => script.context.calls.map(({ status }) => status)
const ends = (script: AgentScript) => script.driver.recordsOf('tool.end').map(({ callId, hook }) => [callId, hook])

describe('calls that beforeTool decides about', (it) => {
  it('start only once it has let them through, each on its own', () => {
    const script = calling(['c1', 'c2'])
    assert.equal([script.state, statuses(script)], ['executing', ['checking', 'checking']])
    assert.equal(script.driver.recordsOf('tool.start'), [])
    script.rule('c2', allowed)
    assert.equal(statuses(script), ['checking', 'running'])
    script.rule('c1', allowed)
    assert.equal(
      script.driver.recordsOf('tool.start').map(({ callId, beforeTool, edited }) => [callId, beforeTool, edited]),
      [
        ['c2', true, undefined],
        ['c1', true, undefined],
      ],
    )
    script.finishCall('c1')
    script.finishCall('c2')
    assert.is(script.state, 'replying.requesting')
  })

  it('run with the arguments that it gives, which the log has beside those of the model', () => {
    const script = calling(['c1'])
    script.rule('c1', { type: 'edited', input: { path: 'safe' }, needsApproval: false })
    assert.equal(script.driver.child('runTool').input.input, { path: 'safe' })
    const [start] = script.driver.recordsOf('tool.start')
    assert.equal([start!.input, start!.edited], [{ path: 'safe' }, true])
    const [reply] = script.driver.recordsOf('reply.end')
    assert.equal(reply!.message.content, [{ type: 'toolCall', callId: 'c1', name: 'tool', input: {} }])
    assert.equal(rebuildContext(script.driver.records).calls, script.context.calls)
  })

  it('are not run when it denies or answers them, or comes to no decision', () => {
    const script = calling(['c1', 'c2', 'c3'])
    script.rule('c1', { type: 'denied', reason: 'not on a Monday.' })
    script.rule('c2', { type: 'answered', content: text('known already') })
    script.rule('c3', { type: 'failed', error: diskFull })
    assert.is(script.state, 'replying.requesting')
    assert.equal(script.driver.recordsOf('tool.start'), [])
    assert.equal(
      script.driver
        .recordsOf('tool.end')
        .map(({ hook, message: { isError, synthetic, content } }) => [hook, isError, synthetic, textOf(content)]),
      [
        ['denied', true, 'refused', 'Denied by the application: it was not run. Reason: not on a Monday.'],
        ['answered', false, 'answered', 'known already'],
        ['unchecked', true, 'refused', 'Not run: it could not be checked. the disk is full'],
      ],
    )
    assert.is(script.context.contextTokens, 7)
  })

  it('wait for people after it, with the arguments that it gave, and it is not asked again', () => {
    const script = calling(['c1', 'c2'])
    script.rule('c1', { type: 'edited', input: { n: 1 }, needsApproval: true })
    assert.equal([script.state, statuses(script)], ['executing', ['held', 'checking']])
    script.rule('c2', { type: 'denied', reason: 'no.' })
    assert.equal([script.state, script.context.pause], ['paused', { type: 'approvals', callIds: ['c1'] }])
    const [request] = script.driver.recordsOf('approval.requested')
    assert.equal([request!.input, request!.beforeTool, request!.edited], [{ n: 1 }, true, true])
    script.approve('c1')
    assert.equal(script.driver.child('runTool').input.input, { n: 1 })
    assert.is(script.driver.started.filter(({ src }) => src === 'askHook').length, 2)
  })

  it('are asked about in their turn when calls run one after the other', () => {
    const script = calling(['c1', 'c2'], { toolExecution: 'sequential' })
    assert.equal(statuses(script), ['checking', 'ready'])
    script.rule('c1', allowed)
    assert.equal(statuses(script), ['running', 'ready'])
    script.finishCall('c1')
    assert.equal(statuses(script), ['settled', 'checking'])
  })

  it('of sub-agents are asked about like any other', () => {
    const script = new AgentScript({ flags, agents: ['helper'] })
    script.prompt('go')
    script.reply({ calls: [{ callId: 'c1', name: 'helper', input: { task: 'look' } }] })
    assert.is(script.context.children, 0)
    script.rule('c1', { type: 'edited', input: { task: 'look twice' }, needsApproval: false })
    assert.equal(script.driver.child('subAgent').input.input, { task: 'look twice' })
    assert.equal(
      script.driver.recordsOf('tool.start').map(({ edited, childId }) => [edited, childId]),
      [[true, 'a.1']],
    )
  })

  it('are answered when a person speaks, aborts or stops; what it says then is too late', () => {
    for (const [interrupt, why] of [
      [(script: AgentScript) => script.steer('wait'), 'skipped'],
      [(script: AgentScript) => script.abort(), 'aborted'],
      [(script: AgentScript) => script.stop(), 'aborted'],
    ] as const) {
      const script = calling(['c1'])
      const child = script.driver.child('askHook')
      interrupt(script)
      assert.equal([...script.driver.children.values()].map(({ src }) => src).includes('askHook'), false)
      script.driver.finish(child, hookAsked(child, allowed, script.driver.now))
      if (script.state === 'settling') script.settle()
      assert.equal(
        script.driver.recordsOf('tool.end').map(({ message }) => message.synthetic),
        [why],
      )
      assert.equal(script.driver.recordsOf('tool.start'), [])
    }
  })

  it('whose hook is told to stop when a person speaks, though others still run', () => {
    const script = calling(['c1', 'c2'])
    script.rule('c1', allowed)
    script.steer('wait')
    assert.equal(script.underway, ['c1'])
    assert.equal(statuses(script), ['running', 'settled'])
  })

  it('are not run when the question breaks down', () => {
    const script = calling(['c1'])
    script.crash('askHook', 'it broke')
    assert.equal(ends(script), [['c1', 'unchecked']])
    assert.match(textOf(script.driver.recordsOf('tool.end')[0]!.message.content), /could not be checked.*it broke/)
    assert.is(script.state, 'replying.requesting')
  })

  it('are asked about again after a store that failed before', () => {
    const script = calling(['c1'])
    const child = script.driver.child('askHook')
    script.driver.finish(child, { ...hookAsked(child, allowed, script.driver.now), notStarted: diskFull })
    assert.equal([script.state, statuses(script)], ['paused', ['ready']])
    script.resume()
    assert.equal(statuses(script), ['checking'])
    script.rule('c1', allowed)
    assert.equal(statuses(script), ['running'])
  })

  it('are not asked about without the hook, and nothing in their records is new', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.reply({ calls: ['c1', { callId: 'c2', held: true }] })
    script.finishCall('c1')
    script.approve('c2')
    assert.equal(statuses(script), ['settled', 'running'])
    for (const record of script.driver.records)
      for (const key of ['beforeTool', 'edited', 'hook']) assert.not.ok(key in record, `${record.type}.${key}`)
  })
})

describe('calls of an agent with beforeTool, after a crash', (it) => {
  /** The agent goes on from its log up to and with this record. */
  function revived(script: AgentScript, last: string): AgentScript {
    const records = script.driver.records
    const kept = records.slice(0, records.findLastIndex(({ type }) => type === last) + 1)
    const context = { ...rebuildContext(kept), head: 2, lastNodeId: 3 }
    const restored = { context, mayRerun: ['tool'], redacted: [], unapproved: [] }
    return new AgentScript({ flags }, { input: { restored }, records: kept })
  }

  it('are asked about again if nothing was decided', () => {
    const script = revived(calling(['c1']), 'reply.end')
    script.driver.send({ type: 'wake' })
    script.resume()
    assert.equal(statuses(script), ['checking'])
  })

  it('keep what was decided, once it is in the log', () => {
    const held = calling(['c1'])
    held.rule('c1', { type: 'edited', input: { n: 1 }, needsApproval: true })
    const waiting = revived(held, 'approval.requested')
    assert.is(waiting.state, 'paused')
    waiting.approve('c1')
    assert.equal(waiting.driver.child('runTool').input.input, { n: 1 })

    const running = calling(['c1'])
    running.rule('c1', { type: 'edited', input: { n: 2 }, needsApproval: false })
    const again = revived(running, 'tool.start')
    again.driver.send({ type: 'wake' })
    again.resume()
    assert.equal(again.driver.child('runTool').input.input, { n: 2 })
    assert.equal(
      again.driver.recordsOf('tool.start').map(({ edited }) => edited),
      [true, true],
    )
  })
})
