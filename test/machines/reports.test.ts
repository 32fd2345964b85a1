import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, text } from './agentScript.ts'

const policy = { agents: ['helper'], reports: ['helper'] }
const helper = (callId: string) => ({ callId, name: 'helper', input: { task: 'look' } })
const keyOf = (callId: string): string => `a/t0/tool/${callId}`

/** An agent whose helpers work, each for one of these calls. */
function called(...callIds: string[]): AgentScript {
  const script = new AgentScript(policy)
  script.prompt('go')
  script.reply({ calls: callIds.map(helper) })
  for (const callId of callIds) script.finishCall(callId)
  return script
}

const report = ({ driver }: AgentScript, callId: string, words = 'found it'): void =>
  driver.send({ type: 'report', key: keyOf(callId), content: text(words), at: driver.now })

const queued = ({ driver }: AgentScript): (readonly [string, string | undefined])[] =>
  driver.recordsOf('queue.changed').map(({ queue, added }) => [queue, added?.id])

const waiting = ({ context }: AgentScript): readonly string[] => context.reporters.map(({ callId }) => callId)

/** The log tells what the machine knows. */
function assertFolded({ driver, context }: AgentScript): void {
  assert.equal(rebuildContext(driver.records).reporters, context.reporters)
  assert.equal(rebuildConversation(driver.records).queues.followUps, context.followUps)
}

describe('a report', (it) => {
  it('is awaited from the end of the call that began its agent', () => {
    const script = new AgentScript(policy)
    script.prompt('go')
    script.reply({ calls: [helper('c1'), helper('c2'), 'c3'] })
    assert.equal(waiting(script), [])
    script.finishCall('c1')
    script.finishCall('c2', { isError: true })
    script.finishCall('c3')
    assert.equal(waiting(script), ['c1'])
    assert.equal(
      script.driver.recordsOf('tool.start').map(({ reports }) => reports),
      [true, true, undefined],
    )
    assertFolded(script)
  })

  it('waits until the run would end, and comes only once', () => {
    const script = called('c1')
    report(script, 'c1')
    report(script, 'c1', 'again')
    report(script, 'c9', 'of nobody')
    assert.equal(queued(script), [['followUps', `${keyOf('c1')}/report`]])
    assert.equal(waiting(script), [])
    assertFolded(script)
    script.reply()
    const [, said] = script.driver.recordsOf('message.added')
    assert.equal(said?.message.provenance, { type: 'report', agentId: 'a.1', name: 'helper', callId: 'c1' })
    script.reply()
    assert.is(script.state, 'idle')
  })

  it('starts a run of an agent at rest', () => {
    const script = called('c1')
    script.reply()
    assert.is(script.state, 'idle')
    report(script, 'c1')
    assert.is(script.state, 'replying.requesting')
    assert.equal(
      script.driver
        .recordsOf('run.start')
        .map(({ cause, requestId }) => [cause, requestId])
        .at(-1),
      ['prompt', `${keyOf('c1')}/report`],
    )
  })

  it('may be faster than the result of its call', () => {
    const script = new AgentScript(policy)
    script.prompt('go')
    script.reply({ calls: [helper('c1')] })
    report(script, 'c1')
    report(script, 'c1', 'again')
    assertFolded(script)
    script.finishCall('c1')
    assert.equal([waiting(script), queued(script).length], [[], 1])
    assertFolded(script)
  })

  it('that a result holds waits no longer', () => {
    const script = called('c1', 'c2')
    report(script, 'c1')
    report(script, 'c2')
    script.reply({ calls: ['w'] })
    script.finishCall('w', { delivers: [`${keyOf('c1')}/report`, 'unheard-of'] })
    assert.equal(
      script.context.followUps.map(({ id }) => id),
      [`${keyOf('c2')}/report`],
    )
    assertFolded(script)
    // A crash between the result and the record of the queue.
    const upToResult = script.driver.records.slice(0, script.types().lastIndexOf('tool.end') + 1)
    assert.equal(rebuildConversation(upToResult).queues.followUps.length, 1)
  })

  it('outlives an abort, which drops what was said; a stop drops both', () => {
    const script = called('c1', 'c2')
    report(script, 'c1')
    script.followUp('and then')
    script.abort()
    script.settle()
    assert.is(script.state, 'idle')
    assert.equal(
      script.context.followUps.map(({ id }) => id),
      [`${keyOf('c1')}/report`],
    )
    assertFolded(script)
    script.stop()
    assert.equal(script.context.followUps, [])
  })

  it('of a fork goes to its source', () => {
    const script = called('c1')
    const [created] = script.driver.records
    const forked = { ...created!, forkedFrom: { agentId: 'a', seq: 9, at: 4 } } as typeof created & object
    assert.equal(rebuildContext([forked], script.driver.records).reporters, [])
  })
})
