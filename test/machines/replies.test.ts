import { noUsage } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript, refused } from './agentScript.ts'

describe('a prompt and its reply', (it) => {
  it('runs from idle over requesting and streaming back to idle, and records each step once', () => {
    const script = new AgentScript()
    assert.is(script.state, 'idle')
    script.prompt('hello')
    assert.is(script.state, 'replying.requesting')
    assert.equal(script.underway, ['streamReply'])
    assert.equal(script.driver.child('streamReply').input, {
      agentId: 'a',
      key: 'a/t0/reply/1',
      runId: 'a/r0',
      turnIndex: 0,
      attempt: 1,
    })
    script.firstToken()
    assert.is(script.state, 'replying.streaming')
    script.reply({ text: 'hi', usage: { input: 3, output: 2 }, costUsd: 0.5 })
    assert.is(script.state, 'idle')
    assert.equal(script.underway, [])
    assert.equal(script.types(), [
      'agent.created',
      'run.start',
      'message.added',
      'turn.start',
      'reply.end',
      'turn.end',
      'run.end',
    ])
    const [end] = script.driver.recordsOf('run.end')
    assert.is(end?.stopReason, 'stop')
    assert.is(end?.turns, 1)
    assert.is(end?.costUsd, 0.5)
    assert.equal(end?.usage, { input: 3, output: 2, cacheRead: 0, cacheWrite: 0 })
  })

  it('describes itself in the first record', () => {
    const [created] = new AgentScript().driver.recordsOf('agent.created')
    assert.is(created?.machine, 'agent@1')
    assert.is(created?.model, 'test:model')
    assert.equal(created?.path, ['root'])
  })

  it('numbers runs and turns over the whole life', () => {
    const script = new AgentScript()
    script.prompt('one')
    script.reply()
    script.prompt('two')
    assert.equal(script.driver.child('streamReply').input.key, 'a/t1/reply/1')
    script.reply()
    assert.equal(
      script.driver.recordsOf('run.start').map(({ runId }) => runId),
      ['a/r0', 'a/r1'],
    )
    assert.equal(
      script.driver.recordsOf('turn.start').map(({ turnIndex }) => turnIndex),
      [0, 1],
    )
    assert.equal(
      script.driver.recordsOf('message.added').map(({ nodeId, parentId }) => [nodeId, parentId]),
      [
        [1, null],
        [3, 2],
      ],
    )
  })

  for (const stopReason of ['length', 'refusal'] as const) {
    it(`ends the run with "${stopReason}" when the reply ended so`, () => {
      const script = new AgentScript()
      script.prompt('go')
      script.reply({ stopReason })
      assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, stopReason)
    })
  }

  it('ignores the first token of another reply', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.driver.send({ type: 'reply.started', key: 'a/t0/reply/2' })
    assert.is(script.state, 'replying.requesting')
  })

  it('drops a reply under another key and goes on waiting for its own', () => {
    const script = new AgentScript()
    script.prompt('go')
    const before = script.driver.records.length
    script.driver.send({ type: 'xstate.done.actor.reply', output: { key: 'a/t7/reply/1', ok: false } } as never)
    assert.is(script.state, 'replying.requesting')
    assert.is(script.driver.records.length, before)
    script.reply()
    assert.is(script.state, 'idle')
  })

  it('ends the run with an error when the effect itself breaks', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.crash('streamReply', 'no such model')
    assert.is(script.state, 'idle')
    const [end] = script.driver.recordsOf('run.end')
    assert.is(end?.stopReason, 'error')
    assert.is(end?.error?.code, 'INTERNAL')
    assert.match(end?.error?.message ?? '', /no such model/)
  })
})

describe('a reply that fails', (it) => {
  for (const kind of ['rateLimited', 'network', 'other'] as const) {
    it(`is tried again after a doubling wait when the kind is ${kind}, until the attempts are used up`, () => {
      const script = new AgentScript({ retry: { attempts: 3, baseMs: 1_000, maxMs: 8_000, maxRetryAfterMs: 60_000 } })
      script.prompt('go')
      script.failReply(kind)
      assert.is(script.state, 'backoff')
      assert.equal(script.driver.child('sleep').input, { key: 'a/t0/reply/2', until: 2_000 })
      script.wake('backoff')
      assert.is(script.driver.child('streamReply').input.key, 'a/t0/reply/2')
      assert.is(script.driver.child('streamReply').input.attempt, 2)
      script.failReply(kind)
      assert.is(script.driver.child('sleep').input.until, 2_000 + 2_000)
      script.wake('backoff')
      script.failReply(kind)
      assert.is(script.state, 'idle')
      assert.equal(
        script.driver.recordsOf('reply.reset').map(({ attempt, retryAt }) => [attempt, retryAt]),
        [
          [1, 2_000],
          [2, 4_000],
          [3, undefined],
        ],
      )
      const [end] = script.driver.recordsOf('run.end')
      assert.is(end?.stopReason, 'error')
      assert.equal(end?.error, { code: 'MODEL_FAILED', message: `failed: ${kind}` })
      assert.is(script.driver.recordsOf('turn.start').length, 1)
    })
  }

  for (const kind of ['auth', 'badRequest'] as const) {
    it(`is not tried again when the kind is ${kind}`, () => {
      const script = new AgentScript()
      script.prompt('go')
      script.failReply(kind)
      assert.is(script.state, 'idle')
      assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, 'error')
    })
  }

  it('waits no longer than the most, and is cut by up to half at random', () => {
    const script = new AgentScript({ retry: { attempts: 9, baseMs: 1_000, maxMs: 3_000, maxRetryAfterMs: 0 } })
    script.prompt('go')
    for (const wait of [1_000, 2_000, 3_000, 3_000]) {
      const at = script.driver.now
      script.failReply('other')
      assert.is(script.driver.child('sleep').input.until, at + wait)
      script.wake('backoff')
    }
    const child = script.driver.child('streamReply')
    const failure = { kind: 'other', error: { code: 'X', message: 'x' } }
    script.driver.finish(child, { key: child.input.key, ok: false, failure, at: script.driver.now, jitter: 0 })
    assert.is(script.driver.child('sleep').input.until, script.driver.now + 1_500)
  })

  it('waits as long as the provider asks, if that is not too long', () => {
    const script = new AgentScript({ retry: { attempts: 3, baseMs: 1, maxMs: 1, maxRetryAfterMs: 5_000 } })
    script.prompt('go')
    script.failReply('rateLimited', 5_000)
    assert.is(script.driver.child('sleep').input.until, 6_000)
    script.wake('backoff')
    script.failReply('rateLimited', 5_001)
    assert.is(script.state, 'idle')
    assert.is(script.driver.recordsOf('run.end')[0]?.stopReason, 'error')
  })

  it('is tried again when the wait itself breaks', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.failReply('network')
    script.crash('sleep')
    assert.is(script.driver.child('streamReply').input.attempt, 2)
  })

  it('starts counting attempts anew with each turn', () => {
    const script = new AgentScript({ retry: { attempts: 2, baseMs: 1, maxMs: 1, maxRetryAfterMs: 0 } })
    script.prompt('go')
    script.failReply('network')
    script.wake('backoff')
    script.reply({ calls: ['c1'] })
    script.finishCall('c1')
    script.failReply('network')
    assert.is(script.state, 'backoff')
  })

  it('counts what an attempt used that came and could not be used', () => {
    const script = new AgentScript()
    script.prompt('go')
    const child = script.driver.child('streamReply')
    const failed = refused(child, 'other', script.driver.now)
    assert.ok(!failed.ok)
    script.driver.finish(child, {
      ...failed,
      failure: { ...failed.failure, usage: { ...noUsage, output: 7 }, costUsd: 0.5 },
    })
    script.wake('backoff')
    script.reply({ usage: { output: 1 }, costUsd: 0.25 })
    const [end] = script.driver.recordsOf('run.end')
    assert.equal([end?.usage.output, end?.costUsd], [8, 0.75])
  })

  it('counts what a later attempt used, once', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.failReply('network')
    script.wake('backoff')
    script.reply({ usage: { input: 4 } })
    assert.is(script.driver.recordsOf('turn.end')[0]?.usage.input, 4)
    assert.is(script.driver.recordsOf('run.end')[0]?.usage.input, 4)
  })
})
