import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'

const flags = { revert: false, prune: false, fold: false, stall: false, policies: false, compact: false } as const

/** An agent whose run failed after a step, with one message of a person. */
function failed(...options: ConstructorParameters<typeof AgentScript>): AgentScript {
  const script = new AgentScript(...options)
  script.prompt('go')
  script.reply({ calls: ['c1'] })
  script.finishCall('c1')
  script.failReply('auth')
  return script
}

const said = (script: AgentScript): number => script.driver.recordsOf('message.added').length
const starts = (script: AgentScript) => script.driver.recordsOf('run.start')
const ends = (script: AgentScript) => script.driver.recordsOf('run.end').map(({ stopReason }) => stopReason)

describe('a run that failed', (it) => {
  it('is gone on with where the model failed: nothing is said or done twice', () => {
    const script = failed()
    assert.equal([script.state, script.context.failedRun], ['idle', 'a/r0'])
    script.resume({ turns: 7 })
    assert.is(script.state, 'replying.requesting')
    const { cause, resumedFrom, limits } = starts(script)[1]!
    assert.equal([cause, resumedFrom, limits.turns], ['resume', 'a/r0', 7])
    script.reply()
    assert.is(script.state, 'idle')
    assert.equal([said(script), ends(script)], [1, ['error', 'stop']])
    assert.equal([script.context.failedRun, script.context.resuming], [null, null])
  })

  it('may fail again, and is gone on with again', () => {
    const script = failed()
    script.resume()
    script.failReply('auth')
    script.resume()
    script.reply()
    assert.equal([said(script), ends(script)], [1, ['error', 'error', 'stop']])
    assert.equal(
      starts(script).map(({ resumedFrom }) => resumedFrom),
      [undefined, 'a/r0', 'a/r1'],
    )
  })

  it('takes what was said into it along, once', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.steer('but quickly')
    script.failReply('auth')
    script.resume()
    assert.is(script.state, 'replying.requesting')
    assert.equal(
      script.driver.recordsOf('message.added').map(({ message }) => (message.role === 'user' ? message.source : '')),
      ['prompt', 'steering'],
    )
  })

  it('is over once something else began', () => {
    const script = failed()
    script.prompt('something else')
    script.reply()
    const before = script.types().length
    script.resume()
    assert.equal([script.state, script.types().length], ['idle', before])
  })

  for (const [how, end] of [
    ['answered', (script: AgentScript) => script.reply()],
    [
      'aborted',
      (script: AgentScript) => {
        script.abort()
        script.settle()
      },
    ],
  ] as const) {
    it(`is not one that was ${how}`, () => {
      const script = new AgentScript()
      script.prompt('go')
      end(script)
      const before = script.types().length
      script.resume()
      assert.equal([script.state, script.types().length, script.context.resuming], ['idle', before, null])
    })
  }

  it('goes on before a prompt that comes while the conversation is reshaped, once that is done', () => {
    const script = failed({ flags: { ...flags, revert: true } })
    script.revert('n1')
    assert.is(script.state, 'draining.reverts')
    script.resume()
    // Asked for twice, done once.
    script.resume()
    script.prompt('and then?')
    assert.is(script.state, 'draining.reverts')
    script.drain('drainReverts')
    assert.is(script.state, 'replying.requesting')
    assert.equal(
      starts(script).map(({ cause }) => cause),
      ['prompt', 'resume'],
    )
    script.reply()
    assert.equal(
      starts(script).map(({ cause }) => cause),
      ['prompt', 'resume', 'prompt'],
    )
  })

  it('does not begin if an abort comes first, and whoever asked is told', () => {
    const script = failed({ flags: { ...flags, revert: true } })
    script.revert('n1')
    script.resume()
    script.abort()
    assert.is(script.state, 'idle')
    assert.equal(ends(script), ['error', 'aborted'])
    assert.is(starts(script).at(-1)!.resumedFrom, 'a/r0')
    assert.equal([script.context.resuming, script.context.failedRun, script.context.run], [null, null, null])
  })

  it('is taken back by its request', () => {
    const script = failed({ flags: { ...flags, revert: true } })
    script.revert('n1')
    script.resume()
    const { id } = script.context.resuming!
    script.driver.send({ type: 'withdraw', id: 'another' })
    assert.is(script.context.resuming?.id, id)
    script.driver.send({ type: 'withdraw', id })
    assert.equal([ends(script), script.context.resuming], [['error', 'aborted'], null])
    script.drain('drainReverts')
    assert.is(script.state, 'idle')
  })

  it('does not go on in an agent that is about to end', () => {
    const script = failed()
    script.spawn('a.1')
    script.stop()
    script.resume()
    assert.equal([script.context.resuming, script.context.run], [null, null])
  })

  it('waits for a store that failed meanwhile', () => {
    const script = failed({ flags: { ...flags, revert: true } })
    script.revert('n1')
    script.resume()
    script.failStore()
    script.drain('drainReverts')
    assert.equal([script.state, script.context.run], ['paused', null])
    script.resume()
    assert.is(script.state, 'replying.requesting')
    assert.is(starts(script).at(-1)!.resumedFrom, 'a/r0')
  })

  it('makes a policy that nobody asked for give way', () => {
    const script = new AgentScript({ flags: { ...flags, policies: true }, policies: { names: ['tidy'], atRest: true } })
    script.prompt('go')
    script.failReply('auth')
    assert.equal([script.state, script.context.run], ['draining.consulting', null])
    script.resume()
    assert.is(script.context.run?.runId, 'a/r1')
  })
})
