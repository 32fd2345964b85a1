import { textOf } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'

/** Messages of people, in the order they came to the trunk. */
const taken = (script: AgentScript) =>
  script.driver.recordsOf('message.added').map(({ message }) => textOf(message.content))
const causes = (script: AgentScript) => script.driver.recordsOf('run.start').map(({ cause }) => cause)

describe('steering', (it) => {
  it('skips the calls that have not started, lets running ones end, and comes after their results', () => {
    const script = new AgentScript({ toolExecution: 'sequential' })
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2', 'c3'] })
    script.steer('stop that')
    assert.equal(script.underway, ['c1'])
    assert.equal(
      script.driver.recordsOf('tool.end').map(({ callId, message }) => [callId, message.synthetic]),
      [
        ['c2', 'skipped'],
        ['c3', 'skipped'],
      ],
    )
    assert.is(script.state, 'executing')
    script.finishCall('c1')
    assert.is(script.state, 'replying.requesting')
    assert.equal(taken(script), ['go', 'stop that'])
    const [, steering] = script.driver.recordsOf('message.added')
    assert.is(steering?.parentId, 5)
    assert.is(steering?.message.source, 'steering')
  })

  it('said during a reply skips that reply’s calls and goes on with the next turn', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.steer('wait')
    assert.is(script.state, 'replying.requesting')
    script.reply({ calls: ['c1', 'c2'] })
    assert.equal(script.underway, ['streamReply'])
    assert.is(script.driver.recordsOf('tool.start').length, 0)
    assert.equal(taken(script), ['go', 'wait'])
  })

  it('said during a final reply is answered in the same run', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.steer('and more')
    script.reply()
    assert.is(script.state, 'replying.requesting')
    assert.is(causes(script).length, 1)
    script.reply()
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('turn.end').length, 2)
  })

  it('at rest starts a run', () => {
    const script = new AgentScript()
    script.steer('hello')
    assert.is(script.state, 'replying.requesting')
    assert.equal(causes(script), ['steering'])
  })

  it('is taken one at a time, or all at once', () => {
    for (const [queueMode, expected] of [
      ['one-at-a-time', ['go', 'a']],
      ['all', ['go', 'a', 'b']],
    ] as const) {
      const script = new AgentScript({ queueMode })
      script.prompt('go')
      script.steer('a')
      script.steer('b')
      script.reply()
      assert.equal(taken(script), expected)
      assert.is(script.context.steering.length, 3 - expected.length)
    }
  })

  it('said right after an abort is not lost', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.abort()
    script.steer('do this instead')
    script.settle()
    assert.is(script.state, 'replying.requesting')
    assert.equal(taken(script), ['go', 'do this instead'])
  })

  it('left over from a failed run does not skip the calls of the next', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.steer('meanwhile')
    script.failReply('auth')
    if (script.state === 'idle') script.prompt('again')
    script.reply({ calls: ['c1'] })
    assert.equal(
      script.driver.recordsOf('tool.end').map(({ message }) => message.synthetic),
      [],
    )
    assert.equal(script.underway, ['c1'])
  })
})

describe('follow-ups', (it) => {
  it('wait until the agent would be done, then go on in the same run', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.followUp('then this')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    assert.equal(taken(script), ['go'])
    script.reply()
    assert.is(script.state, 'replying.requesting')
    assert.equal(taken(script), ['go', 'then this'])
    assert.is(script.driver.recordsOf('message.added')[1]?.message.source, 'followUp')
    script.reply()
    assert.is(script.state, 'idle')
    assert.is(causes(script).length, 1)
  })

  it('at rest start a run', () => {
    const script = new AgentScript()
    script.followUp('hello')
    assert.equal(causes(script), ['followUp'])
  })

  it('come after steering', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.followUp('last')
    script.steer('first')
    script.reply()
    script.reply()
    assert.equal(taken(script), ['go', 'first', 'last'])
  })

  it('are taken one at a time, or all at once', () => {
    for (const [queueMode, turns] of [
      ['one-at-a-time', 3],
      ['all', 2],
    ] as const) {
      const script = new AgentScript({ queueMode })
      script.prompt('go')
      script.followUp('a')
      script.followUp('b')
      while (script.state !== 'idle') script.reply()
      assert.equal(taken(script), ['go', 'a', 'b'])
      assert.is(script.driver.recordsOf('turn.start').length, turns)
    }
  })
})

describe('queued prompts', (it) => {
  it('become the next runs, in order, each with its own limits', () => {
    const script = new AgentScript({ limits: { turns: 9 } })
    script.prompt('one')
    script.prompt('two', { limits: { turns: 2 } })
    script.prompt('three')
    assert.is(script.context.prompts.length, 2)
    script.reply()
    assert.equal(taken(script), ['one', 'two'])
    script.reply()
    script.reply()
    assert.is(script.state, 'idle')
    assert.equal(taken(script), ['one', 'two', 'three'])
    assert.equal(
      script.driver.recordsOf('run.start').map(({ limits }) => limits),
      [{ turns: 9 }, { turns: 2 }, { turns: 9 }],
    )
  })

  it('run after a run that failed, and after one that was aborted', () => {
    const script = new AgentScript()
    script.prompt('one')
    script.prompt('two')
    script.prompt('three')
    script.failReply('auth')
    assert.equal(taken(script), ['one', 'two'])
    script.abort()
    script.settle()
    assert.equal(taken(script), ['one', 'two', 'three'])
    assert.is(script.state, 'replying.requesting')
  })

  it('are overtaken by an interrupt, which aborts the run under way', () => {
    const script = new AgentScript()
    script.prompt('one')
    script.prompt('two')
    script.prompt('now', { interrupt: true })
    assert.is(script.state, 'settling')
    script.settle()
    assert.equal(taken(script), ['one', 'now'])
  })

  it('are overtaken by an interrupt also when a limit paused the agent', () => {
    const script = new AgentScript({ limits: { turns: 1 } })
    script.prompt('one')
    script.prompt('two')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    script.prompt('now', { interrupt: true })
    assert.equal(taken(script), ['one', 'now'])
  })

  it('run before one that comes later, also when a limit paused the agent', () => {
    const script = new AgentScript({ limits: { turns: 1 } })
    script.prompt('one')
    script.prompt('two')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    assert.is(script.state, 'paused')
    script.prompt('three')
    assert.is(script.state, 'replying.requesting')
    assert.equal(taken(script), ['one', 'two'])
  })

  it('count their wall time from when they run, not from when they were queued', () => {
    const script = new AgentScript({ limits: { ms: 1_000 } })
    script.prompt('one')
    script.prompt('two')
    script.driver.now += 900
    script.reply()
    assert.is(script.driver.child('sleep', 'deadline').input.until, script.driver.now + 1_000)
  })

  it('say in the log what was taken, dropped and left', () => {
    const script = new AgentScript()
    script.prompt('one')
    script.prompt('two')
    script.steer('s')
    script.followUp('f')
    script.abort()
    script.settle()
    assert.equal(
      script.driver
        .recordsOf('queue.changed')
        .map(({ queue, added, removed, why, length }) => [queue, added?.id ?? removed, why, length]),
      [
        ['prompts', 'q2', undefined, 1],
        ['steering', 'q3', undefined, 1],
        ['followUps', 'q4', undefined, 1],
        ['steering', ['q3'], 'dropped', 0],
        ['followUps', ['q4'], 'dropped', 0],
        ['prompts', ['q2'], 'taken', 0],
      ],
    )
  })
})
