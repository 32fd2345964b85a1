import { type Interpreter, plannedInterpreter, xstateInterpreter } from '../../src/runtime/interpreter/interpreter.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, replied } from './agentScript.ts'
import { LiveAgent } from './liveAgent.ts'

const failure = { kind: 'network', error: { code: 'MODEL_NETWORK', message: 'it broke off' } } as const
const first = 'a/t0/reply/1'

const replace = (script: AgentScript, key: string): void =>
  script.driver.send({ type: 'reply.replaced', key, failure, next: 'b:2' })

/** Ends the reply under the key of its second attempt. */
function replyAgain(script: AgentScript): void {
  const child = script.driver.child('streamReply')
  const output = replied(child, { text: 'hi' }, script.driver.now)
  script.driver.finish(child, { ...output, key: 'a/t0/reply/2' })
}

describe('a reply that another model takes over', (it) => {
  it('is asked for under the next key, by the same effect, and the log says why', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.firstToken()
    replace(script, first)
    assert.is(script.state, 'replying.requesting')
    assert.equal(script.underway, ['streamReply'])
    const [reset] = script.driver.recordsOf('reply.reset')
    assert.equal([reset?.attempt, reset?.next, reset?.error], [1, 'b:2', failure.error])
    script.driver.send({ type: 'reply.started', key: 'a/t0/reply/2' })
    assert.is(script.state, 'replying.streaming')
    replyAgain(script)
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('reply.end').length, 1)
  })

  it('is not taken over under another key, nor while the run is settled', () => {
    const script = new AgentScript()
    script.prompt('go')
    replace(script, 'a/t0/reply/7')
    script.abort()
    replace(script, first)
    assert.is(script.driver.recordsOf('reply.reset').length, 0)
  })

  it('leaves the retries of the agent as many as before, with their waits', () => {
    const script = new AgentScript({ retry: { attempts: 2, baseMs: 1_000, maxMs: 8_000, maxRetryAfterMs: 0 } })
    script.prompt('go')
    replace(script, first)
    const child = script.driver.child('streamReply')
    const failed = { key: 'a/t0/reply/2', ok: false, failure, at: script.driver.now, jitter: 1 } as const
    script.driver.finish(child, failed)
    assert.is(script.state, 'backoff')
    assert.is(script.driver.child('sleep').input.until, script.driver.now + 1_000)
  })

  it('is folded from the log as the machine had it', () => {
    const script = new AgentScript()
    script.prompt('go')
    replace(script, first)
    const records = script.driver.records
    const { run } = rebuildContext(records)
    assert.equal([run?.attempt, run?.fallbacks], [2, 1])
    assert.equal([script.driver.context.run?.attempt, script.driver.context.run?.fallbacks], [2, 1])
  })

  const interpreters: Readonly<Record<string, Interpreter>> = { xstate: xstateInterpreter, planned: plannedInterpreter }
  for (const [how, interpreter] of Object.entries(interpreters)) {
    it(`does not end the effect on the interpreter "${how}"`, async () => {
      const script = new AgentScript()
      script.prompt('go')
      script.firstToken()
      replace(script, first)
      replyAgain(script)
      const live = new LiveAgent({}, interpreter)
      try {
        for (const step of script.driver.steps) await live.step(step)
        assert.equal(
          live.records.map(({ type }) => type),
          script.driver.records.map(({ type }) => type),
        )
        assert.is(live.started.length, script.driver.started.length)
      } finally {
        live.close()
      }
    })
  }
})
