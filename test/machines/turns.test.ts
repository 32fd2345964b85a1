import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'
import { agentIn } from './everyState.ts'

const off = { revert: false, prune: false, fold: false, stall: false, policies: false, compact: true }
const turns = { ...off, turns: true }

const preparedOf = (script: AgentScript) =>
  script.driver.recordsOf('turn.prepared').map(({ by, tools, instructions, sameInstructions, turnIndex }) => ({
    turnIndex,
    by,
    ...(tools === undefined ? {} : { tools }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(sameInstructions === undefined ? {} : { sameInstructions }),
  }))

describe('turns that code prepares', (it) => {
  it('are prepared once each, however often their reply is asked for', () => {
    const script = new AgentScript({ flags: turns })
    script.prompt('go')
    assert.equal([script.state, script.underway], ['preparing', ['prepareTurn']])
    script.prepare({ by: ['instructions'], instructions: 'a' })
    script.failReply('network')
    script.wake('backoff')
    assert.is(script.state, 'replying.requesting')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    assert.is(script.state, 'preparing')
    script.prepare({ by: ['instructions'], instructions: 'a' })
    script.reply()
    assert.equal(preparedOf(script), [
      { turnIndex: 0, by: ['instructions'], instructions: 'a' },
      { turnIndex: 1, by: ['instructions'], sameInstructions: true },
    ])
  })

  it('leave no record when nothing is different', () => {
    const script = new AgentScript({ flags: turns })
    script.prompt('go')
    const before = script.driver.records.length
    script.prepare()
    assert.equal([script.types(before), script.state], [[], 'replying.requesting'])
  })

  it('end the run with the error, without another attempt, when the code fails', () => {
    for (const fail of [
      (script: AgentScript) => script.prepare('no'),
      (script: AgentScript) => script.crash('prepareTurn', 'no'),
    ]) {
      const script = agentIn('preparing')
      const before = script.driver.records.length
      fail(script)
      assert.equal(script.types(before), ['turn.end', 'run.end'])
      const end = script.driver.recordsOf('run.end')[0]!
      assert.equal([end.stopReason, end.error?.code, script.state], ['error', 'HOOK_FAILED', 'idle'])
    }
  })

  it('do not take a decision that was made for another turn', () => {
    const script = agentIn('preparing')
    const late = { key: 'a/t9/prepare', ok: true, decision: { by: ['beforeTurn'], tools: [] }, at: 1 }
    script.driver.send({ type: 'xstate.done.actor.prepare', output: late } as never)
    assert.equal([script.state, preparedOf(script)], ['preparing', []])
  })

  it('wait for a store that works, and for time that is left', () => {
    const broken = agentIn('preparing')
    broken.failStore()
    assert.equal([broken.state, broken.context.pause?.type], ['paused', 'store'])
    const late = new AgentScript({ flags: turns })
    late.prompt('go', { limits: { ms: 10 } })
    late.wake('deadline')
    assert.equal([late.state, late.context.pause?.type], ['paused', 'limit'])
  })
})

describe('what an agent is told to use', (it) => {
  it('is recorded at once and taken with the next turn, without code', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.use({ tools: ['look'], instructions: 'a' })
    assert.equal([script.state, preparedOf(script)], ['replying.requesting', []])
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    assert.equal(script.types().slice(-2), ['turn.start', 'turn.prepared'])
    // The log has the instructions since they were said.
    assert.equal(preparedOf(script), [{ turnIndex: 1, by: ['use'], tools: ['look'], sameInstructions: true }])
    script.use(null)
    script.reply()
    script.prompt('go')
    assert.equal([preparedOf(script).length, script.context.frame?.offered], [1, null])
  })

  it('answers calls of what is not offered, also before anybody is asked about them', () => {
    const script = new AgentScript({ flags: turns })
    script.prompt('go')
    script.prepare({ by: ['beforeTurn'], tools: ['look'] })
    script.reply({
      calls: [
        { callId: 'c1', held: true },
        { callId: 'c2', name: 'look' },
      ],
    })
    assert.equal(script.underway, ['c2'])
    const [refused] = script.driver.recordsOf('tool.end')
    assert.equal([refused?.callId, refused?.message.synthetic], ['c1', 'refused'])
    assert.is(script.driver.recordsOf('approval.requested').length, 0)
  })

  it('take what sources have, which says from then on what cannot be undone', () => {
    const script = new AgentScript({ flags: turns })
    const { policy } = script.context
    const added = {
      name: 'send',
      description: 'd',
      inputSchema: {},
      effects: 'irreversible',
      approval: 'never',
      source: 's',
    } as const
    const change = { added: [added], removed: [] }
    script.prompt('go')
    const tools = { change, policy: { ...policy, irreversible: ['send'] } }
    script.prepare({ by: ['beforeTurn'], tools: ['send'] }, { tools })
    assert.equal(script.types().slice(-3), ['turn.start', 'tools.changed', 'turn.prepared'])
    script.reply({ calls: [{ callId: 'c1', name: 'send' }] })
    assert.is(script.driver.recordsOf('tool.start')[0]!.irreversible, true)
    script.finishCall('c1')
    script.prepare({}, { tools: { policy } })
    assert.is(script.driver.recordsOf('tools.changed').length, 1)
    script.reply({ calls: [{ callId: 'c2', name: 'send' }] })
    assert.is(script.driver.recordsOf('tool.start')[1]!.irreversible, undefined)
  })

  it('is folded from the log as the machine knew it', () => {
    const script = new AgentScript({ flags: turns })
    script.use({ model: { id: 'm' } })
    script.prompt('go')
    script.prepare({ by: ['instructions', 'beforeTurn'], instructions: 'a', tools: ['look'] })
    assert.equal(rebuildContext(script.driver.records).frame, script.context.frame)
    script.reply()
    script.prompt('go')
    assert.equal(rebuildContext(script.driver.records).frame, script.context.frame)
  })
})

describe('a limit after which a run answers', (it) => {
  const limits = { turns: 1, onLimit: 'answer' } as const

  it('is reached once: the next turn is the last, with or without code', () => {
    for (const flags of [off, turns]) {
      const script = new AgentScript({ flags })
      script.prompt('go', { limits })
      if (flags === turns) script.prepare()
      script.reply({ calls: ['c1'] })
      script.finishCall('c1')
      if (flags === turns) script.prepare()
      assert.equal(preparedOf(script), [{ turnIndex: 1, by: ['limit'], tools: [] }])
      script.reply({ text: 'so far' })
      const end = script.driver.recordsOf('run.end')[0]!
      assert.equal([end.stopReason, end.reason?.type, end.turns, script.state], ['stop', 'limit', 2, 'idle'])
      assert.is(rebuildContext(script.driver.records).pause, null)
    }
  })

  it('pauses a run whose model does not answer', () => {
    const script = new AgentScript()
    script.prompt('go', { limits })
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    script.reply({ calls: ['c2'] })
    assert.equal([script.state, script.context.pause?.type, script.underway], ['paused', 'limit', []])
    script.resume()
    assert.is(script.state, 'replying.requesting')
  })

  it('ends a run whose model fails, as any turn does', () => {
    const script = new AgentScript()
    script.prompt('go', { limits })
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    script.failReply('auth')
    assert.equal([script.state, script.driver.recordsOf('run.end')[0]?.stopReason], ['idle', 'error'])
  })

  it('says what is said meanwhile in the last turn, and what comes later waits', () => {
    const script = new AgentScript()
    script.prompt('go', { limits })
    script.followUp('and this')
    script.reply()
    assert.equal(preparedOf(script), [{ turnIndex: 1, by: ['limit'], tools: [] }])
    script.followUp('and that')
    script.reply()
    assert.equal([script.state, script.context.followUps.length], ['paused', 1])
  })
})
