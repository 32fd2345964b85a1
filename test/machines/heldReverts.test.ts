import { AgentScript } from './agentScript.ts'
import { assert, describe } from '../support/suite.ts'

const flags = { revert: true, prune: false, fold: false, stall: false, policies: false, compact: true }

/** In the drain of a turn in which a revert was asked for; another turn follows. */
function inDrain(options: ConstructorParameters<typeof AgentScript>[0] = { flags }): AgentScript {
  const script = new AgentScript(options)
  script.prompt('go')
  script.reply({ calls: ['c1'], contextTokens: 100 })
  script.revert('n1')
  script.finishCall('c1')
  assert.is(script.state, 'draining.reverts')
  return script
}

function hold(script: AgentScript): void {
  const child = script.driver.child('drainReverts')
  const held = child.input.requests.map(({ id }) => id)
  script.driver.finish(child, { key: child.input.key, outcomes: [], held, contextTokens: 10, at: script.driver.now })
}

describe('a revert that a drain holds back', (it) => {
  it('stays in the queue without a record, and the run goes on', () => {
    const script = inDrain()
    const before = script.driver.records.length
    hold(script)
    assert.is(script.state, 'replying.requesting')
    assert.is(script.context.reverts?.length, 1)
    assert.equal(script.types(before), ['turn.end', 'turn.start'])
  })

  it('is drained again in the next turn, with one more request to reckon with', () => {
    const script = inDrain()
    const { outlook, expected } = script.driver.child('drainReverts').input
    assert.equal([outlook, expected], ['goesOn', 1])
    hold(script)
    script.reply({ calls: ['c2'] })
    script.finishCall('c2')
    const { requests, ...input } = script.driver.child('drainReverts').input
    assert.equal([requests.length, input.outlook, input.expected], [1, 'goesOn', 2])
    hold(script)
    script.reply()
    assert.equal(script.driver.child('drainReverts').input.outlook, 'ends')
    script.drain('drainReverts')
    assert.equal([script.state, script.context.reverts], ['idle', []])
  })

  it('is told when too little headroom is left', () => {
    const script = inDrain({ flags, compaction: { trigger: 1, regrowth: 1 } })
    assert.is(script.driver.child('drainReverts').input.outlook, 'crowded')
  })

  it('is never held at rest: the next drain would follow at once', () => {
    const script = new AgentScript({ flags })
    script.prompt('go')
    script.reply()
    script.revert('n1')
    assert.equal([script.state, script.driver.child('drainReverts').input.outlook], ['draining.reverts', 'ends'])
    hold(script)
    assert.equal([script.state, script.context.reverts], ['idle', []])
    assert.is(script.driver.recordsOf('revert.applied')[0]?.reason, 'revert refused: the drain gave no answer')
  })

  it('comes to an end with what hides its span: the prune is recorded first', () => {
    const script = inDrain()
    const before = script.driver.records.length
    const child = script.driver.child('drainReverts')
    const [{ id, category, step }] = child.input.requests as [(typeof child.input.requests)[number]]
    const outcome = { id, applied: false, category, requested: step, reason: 'revert refused: hidden instead' }
    const hidden = [{ id, applied: true, steps: [2], tokens: 9 }]
    const { key } = child.input
    script.driver.finish(child, { key, outcomes: [outcome], hidden, contextTokens: 7, at: script.driver.now })
    assert.equal(script.types(before).slice(0, 2), ['prune.applied', 'revert.applied'])
    assert.equal([script.context.reverts, script.context.prunes], [[], []])
  })
})
