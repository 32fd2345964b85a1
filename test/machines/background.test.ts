import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, text, type ScriptedCall } from './agentScript.ts'

const policy = { background: { always: ['build'], choice: ['command'], max: 3 } }
const build = (callId: string): ScriptedCall => ({ callId, name: 'build' })
const keyOf = (callId: string): string => `a/t0/tool/${callId}`

/** An agent whose builds work in the background, each for one of these calls. */
function sent(...callIds: string[]): AgentScript {
  const script = new AgentScript(policy)
  script.prompt('go')
  script.reply({ calls: callIds.map(build) })
  return script
}

const working = ({ context }: AgentScript): readonly string[] =>
  context.reporters.map((one) => (one.kind === 'call' ? one.id : one.childId))

const places = ({ driver }: AgentScript): readonly string[] =>
  [...driver.children.keys()].filter((id) => id.startsWith('background.')).toSorted()

const queued = ({ driver }: AgentScript): (readonly [string, string])[] =>
  driver.recordsOf('queue.changed').flatMap(({ queue, added }) => (added === undefined ? [] : [[queue, added.id]]))

/** The log tells what the machine knows. */
function assertFolded({ driver, context }: AgentScript): void {
  const folded = rebuildContext(driver.records)
  assert.equal(folded.reporters, context.reporters)
  assert.is(folded.backgrounds, context.backgrounds)
  assert.equal(rebuildConversation(driver.records).queues.followUps, context.followUps)
}

describe('a call in the background', (it) => {
  it('has a receipt at once, with which its step ends', () => {
    const script = sent('c1', 'c2')
    assert.is(script.state, 'replying.requesting')
    const starts = script.driver.recordsOf('tool.start').map(({ background }) => background)
    assert.equal(starts, ['b1', 'b2'])
    const [receipt] = script.driver.recordsOf('tool.end')
    assert.match(textOf(receipt!.message.content), /^Started as b1\./)
    assert.is(receipt!.message.isError, false)
    assert.equal(
      [working(script), places(script)],
      [
        ['b1', 'b2'],
        ['background.0', 'background.1'],
      ],
    )
    assertFolded(script)
  })

  it('is made beside calls that are waited for', () => {
    const script = new AgentScript(policy)
    script.prompt('go')
    script.reply({ calls: ['c1', build('c2'), 'c3'] })
    assert.is(script.state, 'executing')
    script.finishCall('c1')
    script.finishCall('c2')
    assert.is(script.state, 'executing')
    script.finishCall('c3')
    assert.is(script.state, 'replying.requesting')
    assert.equal([working(script), places(script), queued(script).length], [[], [], 1])
    assertFolded(script)
  })

  it('reports once: while the agent is busy as a follow-up, at rest by a run', () => {
    const script = sent('c1', 'c2')
    const late = script.call('c1')
    script.finishCall('c1', { changed: ['a.txt'] })
    assert.equal(queued(script), [['followUps', `${keyOf('c1')}/report`]])
    script.driver.send({
      type: 'xstate.done.actor.background.0',
      output: { key: late.input.key, content: text('again'), isError: false, tokens: 0, at: 9 },
    })
    assert.is(script.driver.recordsOf('call.reported').length, 1)
    assertFolded(script)
    script.reply()
    script.reply()
    assert.is(script.state, 'idle')
    script.finishCall('c2', { isError: true })
    assert.is(script.state, 'replying.requesting')
    assert.equal(queued(script).at(-1), ['prompts', `${keyOf('c2')}/report`])
    const said = script.driver.recordsOf('message.added').map(({ message }) => message)
    assert.equal(
      said.slice(1).map(({ content }) => textOf(content)),
      [
        'Report of b1, your call of build:\n\nresult of c1',
        'Report of b2, your call of build, which failed:\n\nresult of c2',
      ],
    )
    assert.equal(said[1]!.provenance, { type: 'report', agentId: 'a', name: 'build', callId: 'c1', background: 'b1' })
    const [first] = script.driver.recordsOf('call.reported')
    assert.equal([first!.id, first!.changed, first!.isError, first!.ended], ['b1', ['a.txt'], false, undefined])
    assertFolded(script)
  })

  it('goes there by choice, if its arguments say so', () => {
    const script = new AgentScript(policy)
    script.prompt('go')
    const calls = [true, false, 'yes', undefined].map((background, index) => ({
      callId: `c${index}`,
      name: 'command',
      input: background === undefined ? {} : { background },
    }))
    script.reply({ calls })
    assert.equal(
      script.driver.recordsOf('tool.start').map(({ background }) => background),
      ['b1', undefined, undefined, undefined],
    )
  })

  it('waits for its approval before the receipt', () => {
    const script = new AgentScript(policy)
    script.prompt('go')
    script.reply({ calls: [{ ...build('c1'), held: true }] })
    assert.equal([script.state, working(script)], ['paused', []])
    script.approve('c1')
    assert.equal([script.state, working(script)], ['replying.requesting', ['b1']])
    script.reply({ calls: [{ ...build('c2'), held: true }] })
    script.deny('c2')
    assert.equal(working(script), ['b1'])
  })

  it('is refused beyond the most that are allowed, which are told', () => {
    const script = sent('c1', 'c2', 'c3', 'c4')
    assert.equal(working(script), ['b1', 'b2', 'b3'])
    const refusal = script.driver.recordsOf('tool.end').at(-1)!.message
    assert.equal([refusal.isError, refusal.synthetic], [true, 'refused'])
    assert.match(textOf(refusal.content), /3 calls work in the background, the most allowed: b1 \(build\), b2/)
    script.finishCall('c2')
    script.reply({ calls: [build('c5')] })
    assert.equal(working(script), ['b1', 'b3', 'b4'])
    assert.equal(places(script), ['background.0', 'background.1', 'background.2'])
    assertFolded(script)
  })

  it('takes no place of a sub-agent', () => {
    const script = new AgentScript({ ...policy, agents: ['helper'], maxChildren: 1 })
    script.prompt('go')
    script.reply({ calls: [build('c1'), { callId: 'c2', name: 'helper', input: { task: 'look' } }] })
    assert.equal(
      script.driver.recordsOf('tool.start').map(({ childId }) => childId),
      [undefined, 'a.1'],
    )
  })

  it('still reports when its runner crashes, or the store took no record before it began', () => {
    const script = sent('c1', 'c2')
    const { id } = script.call('c1')
    script.driver.crash(script.call('c1'), 'boom')
    assert.is(id, 'background.0')
    script.finishCall('c2', { notStarted: { code: 'STORE_APPEND_FAILED', message: 'the disk is full' } })
    assert.equal(
      script.driver.recordsOf('call.reported').map(({ content, isError }) => [textOf(content), isError]),
      [
        ['The tool failed: boom', true],
        ['It could not be started: the disk is full', true],
      ],
    )
    assert.equal(places(script), [])
  })
})

describe('the end of calls in the background', (it) => {
  const reasons = ({ driver }: AgentScript) => driver.recordsOf('call.reported').map(({ id, ended }) => [id, ended])

  it('is an abort of the run or at rest, told with the next message', () => {
    for (const isAtRest of [false, true]) {
      const script = sent('c1')
      if (isAtRest) script.reply()
      script.abort()
      if (!isAtRest) script.settle()
      assert.equal([script.state, reasons(script), places(script)], ['idle', [['b1', 'aborted']], []])
      assertFolded(script)
      script.prompt('what now?')
      assert.equal(
        script.driver.recordsOf('message.added').map(({ message }) => textOf(message.content)),
        [
          'go',
          'Report of b1, your call of build, which failed:\n\nAborted while it ran: what it did so far was not undone.',
          'what now?',
        ],
      )
    }
  })

  it('is not an abort that leaves them, nor a message that interrupts', () => {
    for (const isAtRest of [false, true]) {
      const script = sent('c1')
      if (isAtRest) script.reply()
      script.driver.send({ type: 'abort', background: false })
      if (!isAtRest) script.settle()
      assert.equal([working(script), places(script)], [['b1'], ['background.0']])
      script.prompt('more')
      script.prompt('now', { interrupt: true })
      script.settle()
      assert.equal([working(script), places(script)], [['b1'], ['background.0']])
    }
  })

  it('is that of the agent: reported as aborted, and kept when it is closed', () => {
    for (const type of ['stop', 'close'] as const) {
      const script = sent('c1')
      script.reply()
      script.driver.send({ type })
      assert.equal([script.state, reasons(script)], ['stopped', [['b1', 'aborted']]])
      assert.equal(rebuildConversation(script.driver.records).queues.followUps.length, type === 'close' ? 1 : 0)
    }
  })

  it('is asked for by the model', () => {
    const script = sent('c1', 'c2')
    script.driver.send({ type: 'cancelCall', id: 'b2', at: script.driver.now })
    script.driver.send({ type: 'cancelCall', id: 'b2', at: script.driver.now })
    script.driver.send({ type: 'cancelCall', id: 'b9', at: script.driver.now })
    assert.equal([working(script), places(script)], [['b1'], ['background.0']])
    assert.equal(reasons(script), [['b2', 'cancelled']])
    assert.equal(queued(script), [['followUps', `${keyOf('c2')}/report`]])
    assertFolded(script)
  })
})
