import { assert, describe } from '../support/suite.ts'
import { AgentScript, askPrune, askRevert, overlayOver } from './agentScript.ts'
import { drained } from './drained.ts'

const flags = { revert: false, prune: false, fold: false, stall: false, policies: false, compact: true }

/** An agent whose first turn used one tool and ends with this many tokens in its context. */
function afterTool(contextTokens: number, policy: ConstructorParameters<typeof AgentScript>[0] = {}): AgentScript {
  const script = new AgentScript({ compaction: { trigger: 1_000, regrowth: 100 }, ...policy })
  script.prompt('go')
  script.reply({ calls: ['c1'], contextTokens })
  script.finishCall('c1')
  return script
}

describe('compaction for headroom', (it) => {
  it('starts when the trunk passes the trigger, and the run goes on with what it left', () => {
    const script = afterTool(1_001)
    assert.is(script.state, 'compacting')
    assert.equal(script.driver.child('compactTrunk').input.force, false)
    assert.equal(
      script.driver.recordsOf('compaction.start').map(({ cause, tokens }) => [cause, tokens]),
      [['headroom', 1_001]],
    )
    script.compact({
      overlay: overlayOver(2, 3),
      tokensBefore: 1_001,
      tokensAfter: 400,
      usage: { input: 5, output: 1, cacheRead: 0, cacheWrite: 0 },
      costUsd: 0.25,
    })
    assert.is(script.state, 'replying.requesting')
    const [end] = script.driver.recordsOf('compaction.end')
    assert.is(end?.applied, true)
    assert.is(end?.overlay?.nodeId, 4)
    assert.is(script.context.lastNodeId, 4)
    assert.is(script.context.head, 3)
    assert.is(script.context.contextTokens, 400)
    script.reply()
    assert.is(script.driver.recordsOf('run.end')[0]?.usage.input, 5)
    assert.is(script.driver.recordsOf('run.end')[0]?.costUsd, 0.25)
  })

  it('does not start at the trigger, nor when it is switched off', () => {
    assert.is(afterTool(1_000).state, 'replying.requesting')
    assert.is(afterTool(9_999, { flags: { ...flags, compact: false } }).state, 'replying.requesting')
  })

  it('counts what the tools said', () => {
    const script = new AgentScript({ compaction: { trigger: 1_000, regrowth: 100 } })
    script.prompt('go')
    script.reply({ calls: ['c1'], contextTokens: 900 })
    script.finishCall('c1', { tokens: 101 })
    assert.is(script.state, 'compacting')
  })

  it('is not tried again until the trunk has grown', () => {
    const script = afterTool(1_500)
    script.compact({ tokensBefore: 1_500, tokensAfter: 1_500 })
    assert.equal(
      script.driver.recordsOf('compaction.end').map(({ applied, reason }) => [applied, reason]),
      [[false, 'nothing to gain']],
    )
    assert.is(script.state, 'replying.requesting')
    script.reply({ calls: ['c2'], contextTokens: 1_600 })
    script.finishCall('c2')
    assert.is(script.state, 'replying.requesting')
    script.reply({ calls: ['c3'], contextTokens: 1_601 })
    script.finishCall('c3')
    assert.is(script.state, 'compacting')
  })

  it('that breaks is recorded as not applied, and the run goes on', () => {
    const script = afterTool(1_500)
    script.crash('compactTrunk', 'no summary')
    assert.is(script.state, 'replying.requesting')
    assert.equal(
      script.driver.recordsOf('compaction.end').map(({ applied, reason }) => [applied, reason]),
      [[false, 'no summary']],
    )
  })

  it('also happens at the end of a run', () => {
    const script = new AgentScript({ compaction: { trigger: 1_000, regrowth: 100 } })
    script.prompt('go')
    script.reply({ contextTokens: 5_000 })
    assert.is(script.state, 'compacting')
    script.compact()
    assert.is(script.state, 'idle')
    assert.is(script.types().at(-1), 'run.end')
  })
})

describe('compaction for an overflow', (it) => {
  it('is followed by one more try under a new key, and by an error when that overflows too', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.failReply('overflow')
    assert.is(script.state, 'compacting')
    assert.is(script.driver.child('compactTrunk').input.force, true)
    assert.is(script.driver.recordsOf('reply.reset').length, 1)
    script.compact({ overlay: overlayOver(1, 1, [1]) })
    assert.is(script.state, 'replying.requesting')
    assert.is(script.driver.child('streamReply').input.key, 'a/t0/reply/2')
    script.failReply('overflow')
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('run.end')[0]?.error?.message, 'failed: overflow')
    assert.is(script.driver.recordsOf('compaction.start').length, 1)
  })

  it('that saves nothing, or breaks, ends the run with the error of the reply', () => {
    for (const end of ['nothing', 'breaks'] as const) {
      const script = new AgentScript()
      script.prompt('go')
      script.failReply('overflow')
      if (end === 'nothing') script.compact()
      else script.crash('compactTrunk')
      assert.is(script.state, 'idle')
      assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, 'error')
      assert.is(script.driver.recordsOf('run.end')[0]?.error?.message, 'failed: overflow')
      assert.is(script.driver.recordsOf('compaction.end')[0]?.applied, false)
    }
  })

  it('does not happen when it is switched off', () => {
    const script = new AgentScript({ flags: { ...flags, compact: false } })
    script.prompt('go')
    script.failReply('overflow')
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, 'error')
  })

  it('may happen again in a later turn', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.failReply('overflow')
    script.compact({ overlay: overlayOver(1, 1, [1]) })
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    script.failReply('overflow')
    assert.is(script.state, 'compacting')
  })
})

describe('the drains', (it) => {
  for (const [revert, prune] of [
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ] as const) {
    it(`come between turns: reverts ${revert ? 'on' : 'off'}, prunes ${prune ? 'on' : 'off'}`, () => {
      const script = new AgentScript({
        flags: { revert, prune, fold: false, stall: false, policies: false, compact: false },
      })
      const seen: string[] = []
      script.driver.onStart = ({ src }) => seen.push(src)
      script.prompt('go')
      script.reply({ calls: ['c1', 'c2'] })
      script.finishCall('c1', { brake: askRevert })
      script.finishCall('c2', { brake: askPrune })
      if (revert) script.drain('drainReverts')
      if (prune) script.drain('drainPrunes')
      assert.is(script.state, 'replying.requesting')
      const drains = [...(revert ? ['drainReverts'] : []), ...(prune ? ['drainPrunes'] : [])]
      assert.equal(seen, ['streamReply', 'runTool', 'runTool', ...drains, 'streamReply'])
    })
  }

  it('that break do not stop the run', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: false },
    })
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2'] })
    script.finishCall('c1', { brake: askRevert })
    script.finishCall('c2', { brake: askPrune })
    script.crash('drainReverts')
    assert.is(script.state, 'draining.prunes')
    script.crash('drainPrunes')
    assert.is(script.state, 'replying.requesting')
    assert.equal(
      [...script.driver.recordsOf('revert.applied'), ...script.driver.recordsOf('prune.applied')].map(
        ({ applied }) => applied,
      ),
      [false, false],
    )
  })

  it('do not come when nothing was asked for', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: false },
    })
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    assert.is(script.state, 'replying.requesting')
  })

  it('decide pins first, whatever the switches', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: false },
    })
    const seen: string[] = []
    script.driver.onStart = ({ src }) => seen.push(src)
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.prune('n2')
    script.graft('n2')
    script.revert('n1')
    script.pin('n2')
    script.finishCall('c1')
    script.drain('drainPins')
    script.drain('drainReverts')
    script.drain('drainGrafts')
    script.drain('drainPrunes')
    assert.equal(seen.slice(2), ['drainPins', 'drainReverts', 'drainGrafts', 'drainPrunes', 'streamReply'])
    const off = new AgentScript()
    off.pin('n1')
    assert.is(off.state, 'draining.pins')
    off.crash('drainPins')
    assert.equal([off.state, off.driver.recordsOf('pin.applied')[0]?.reason], ['idle', 'pin refused: it broke'])
    off.prune('n1')
    assert.is(off.state, 'draining.prunes')
  })

  it('answer with the agent that is stopped, pins too', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: false },
    })
    script.prompt('go')
    script.reply({ calls: ['c1'] })
    script.pin('n2', false)
    script.prune('n2')
    script.stop()
    script.settle()
    assert.is(script.driver.recordsOf('pin.applied')[0]?.reason, 'unpin refused: the agent was stopped')
    assert.is(script.driver.recordsOf('prune.applied')[0]?.applied, false)
    const idle = new AgentScript()
    idle.graft('n2')
    idle.stop()
    assert.is(idle.driver.recordsOf('graft.applied')[0]?.reason, 'graft refused: the agent was stopped')
  })

  it('of grafts that break, or are given up at rest, answer what was asked for', () => {
    const script = new AgentScript()
    script.graft('n2', 'n4')
    assert.is(script.state, 'draining.grafts')
    script.crash('drainGrafts')
    assert.is(script.state, 'idle')
    script.graft('n2')
    script.abort()
    assert.equal(
      script.driver
        .recordsOf('graft.applied')
        .map(({ applied, requested, copies, reason }) => [applied, requested, copies, reason]),
      [
        [false, ['n2', 'n4'], [], 'graft refused: it broke'],
        [false, ['n2'], [], 'graft refused: it was aborted'],
      ],
    )
    assert.equal(script.context.grafts, [])
  })

  it('of grafts move the head to the last copy, and let a fold look again', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: true, stall: false, policies: false, compact: false },
    })
    script.prompt('go')
    script.reply({ calls: ['c1'], contextTokens: 10, foldAt: 9_000 })
    script.graft('n2')
    script.finishCall('c1')
    const drain = script.driver.child('drainGrafts')
    const outcome = {
      id: drain.input.requests[0]!.id,
      applied: true,
      requested: ['n2'],
      copies: [{ nodeId: 9, from: 2 }],
    }
    script.driver.finish(drain, { key: drain.input.key, outcomes: [outcome], contextTokens: 700, at: 1 })
    assert.equal([script.state, script.context.head, script.context.lastNodeId], ['draining.folding', 9, 9])
    assert.is(script.context.contextTokens, 700)
  })

  it('come at once for a person who asks an agent at rest, and leave it at rest', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: true },
    })
    script.prompt('go')
    script.reply()
    script.revert('n1')
    assert.is(script.state, 'draining.reverts')
    script.drain('drainReverts')
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('run.start').length, 1)
  })

  it('answer what was asked before them; what comes meanwhile is for the next', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: false, fold: false, stall: false, policies: false, compact: false },
    })
    script.prompt('go')
    script.reply()
    script.revert('n1')
    script.revert('n2')
    script.drain('drainReverts')
    assert.is(script.state, 'draining.reverts')
    script.drain('drainReverts')
    assert.is(script.state, 'idle')
    assert.equal(
      script.driver.recordsOf('revert.applied').map(({ requested, reason }) => [requested, reason]),
      [
        ['n1', 'revert refused'],
        ['n2', 'revert refused'],
      ],
    )
  })

  it('are not asked for by a model with the switch off, whoever sends the event', () => {
    const script = new AgentScript()
    const before = script.driver.records.length
    const request = { id: 'v', by: 'model', category: 'failure', step: 'n1' } as const
    script.driver.send({ type: 'revert', request, at: script.driver.now })
    assert.equal([script.state, script.context.reverts, script.types(before)], ['idle', [], []])
    script.revert('n1')
    assert.is(script.state, 'draining.reverts')
  })

  it('at rest keep nobody waiting: what is said meanwhile starts a run', () => {
    for (const way of ['prompt', 'steer', 'followUp'] as const) {
      const script = new AgentScript({
        flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: true },
      })
      script.prompt('go')
      script.reply()
      script.revert('n1')
      script[way]('hello')
      script.drain('drainReverts')
      assert.is(script.state, 'replying.requesting', way)
    }
  })

  it('at rest may be stopped, a compaction after them too', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: true },
    })
    script.prompt('go')
    script.reply({ contextTokens: 9_000 })
    script.revert('n1')
    const drain = script.driver.child('drainReverts')
    script.driver.finish(drain, { ...drained(drain, 1), contextTokens: 50_000 })
    if (script.state === 'compacting') {
      script.stop()
      assert.is(script.driver.recordsOf('compaction.end').length, 1)
    }
  })
})
