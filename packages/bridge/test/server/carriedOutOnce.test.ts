import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { gate } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { approving, lastingStore, serveAgents, untilApproval, type Bare } from './bridgeHarness.ts'

/** Counts what is asked of it. */
function payer() {
  const asked: string[] = []
  const definition = defineAgent({ name: 'payer', model: policyModel(() => (asked.push('x'), 'paid')) })
  return { asked, definition }
}

const pay = { type: 'agent.prompt', agentId: 'a', content: 'pay Bob', id: 'pay' }
const limits = { framesPerSecond: 1_000_000, waitingCommands: 1_000_000, drainMs: 50 }

/** The answers to a command so far. */
const answersTo = (bare: Bare, id: string): unknown[] => bare.frames.filter((frame) => 'id' in frame && frame.id === id)

async function sendAndWait(bare: Bare, frame: { readonly id: string }): Promise<unknown> {
  const count = answersTo(bare, frame.id).length
  bare.send(frame)
  await bare.until(() => answersTo(bare, frame.id).length > count)
  return answersTo(bare, frame.id).at(-1)
}

/** A lasting store that counts how often a log is read. */
function countingStore() {
  const inner = lastingStore()
  const reads: string[] = []
  const store: Store = {
    ...inner,
    read(agentId, fromSeq) {
      reads.push(agentId)
      return inner.read(agentId, fromSeq)
    },
  }
  return { store, reads }
}

describe('a command', (it) => {
  it(
    'sent again after ten thousand of another client is not carried out again',
    { timeoutMs: 60_000 },
    async (context) => {
      const { asked, definition } = payer()
      const open = gate()
      const slow = defineAgent({ name: 'slow', model: policyModel(async () => (await open.promise, 'late')) })
      const serving = await serveAgents(context, [definition, slow], { limits })
      await serving.runtime.spawn(definition, { id: 'a' })
      await serving.runtime.spawn(definition, { id: 'b' })
      const idle = await serving.runtime.spawn(slow, { id: 'c' })
      const mine = await serving.dial({ hello: { sessionId: 's1' } })
      const first = await sendAndWait(mine, pay)
      const abort = { type: 'agent.abort', agentId: 'c', id: 'stop it' }
      const aborted = await sendAndWait(mine, abort)
      const other = await serving.dial({ hello: { sessionId: 's2' } })
      for (let n = 0; n < 10_001; n += 1) other.send({ type: 'agent.abort', agentId: 'b', id: `x${n}` })
      await other.until((frame) => 'id' in frame && frame.id === 'x10000')
      assert.equal(await sendAndWait(mine, pay), first)
      const run = idle.prompt('go')
      assert.equal(await sendAndWait(mine, abort), aborted)
      open.resolve()
      assert.is((await run.result).stopReason, 'stop')
      assert.is(asked.length, 1)
    },
  )

  it('that left a record is known when its session has long been forgotten', { timeoutMs: 10_000 }, async (context) => {
    const clock = simulatedClock()
    const { asked, definition } = payer()
    const serving = await serveAgents(context, [definition], {
      limits: { ...limits, sessionMs: 5_000, pingMs: 1_000_000 },
      runtime: { clock },
    })
    const agent = await serving.runtime.spawn(definition, { id: 'a' })
    const first = await serving.dial({ hello: { sessionId: 's1' } })
    const answer = await sendAndWait(first, pay)
    const left = new Promise((resolve) => first.socket.on('close', resolve))
    first.socket.close()
    await left
    await agent.prompt('another').result
    await clock.advance(10_000)
    const again = await serving.dial({ hello: { sessionId: 's1' } })
    assert.equal(await sendAndWait(again, pay), answer)
    assert.is(asked.length, 2)
    // And so is one of a session that has sent many since.
    for (let n = 0; n < 2_000; n += 1) again.send({ type: 'agent.abort', agentId: 'a', id: `x${n}` })
    await again.until((frame) => 'id' in frame && frame.id === 'x1999')
    assert.equal(await sendAndWait(again, pay), answer)
    assert.is(asked.length, 2)
  })

  it('that waits in a queue, or was said meanwhile, is known at once', async (context) => {
    const open = gate()
    const slow = defineAgent({ name: 'slow', model: policyModel(async () => (await open.promise, 'late')) })
    const serving = await serveAgents(context, [slow])
    const agent = await serving.runtime.spawn(slow, { id: 'a' })
    const run = agent.prompt('first')
    for (const requestId of ['s/1', 's/2']) {
      assert.is(await agent.wasAsked(requestId), false)
      agent.dispatch({ type: 'agent.prompt', agentId: 'a', content: 'more' }, { requestId })
      assert.is(await agent.wasAsked(requestId), true)
    }
    open.resolve()
    await run.result
  })

  it('reads no log, however many there are', async (context) => {
    const { store, reads } = countingStore()
    const { definition } = payer()
    const before = await serveAgents(context, [definition], { runtime: { store } })
    await (await before.runtime.spawn(definition, { id: 'a' })).prompt('x').result
    await before.runtime.close()
    const { asked, definition: same } = payer()
    const after = await serveAgents(context, [same], { runtime: { store }, limits })
    const bare = await after.dial({ hello: { sessionId: 's1' } })
    await sendAndWait(bare, pay)
    const count = reads.length
    for (let n = 0; n < 50; n += 1) await sendAndWait(bare, { ...pay, id: `p${n}` })
    for (let n = 0; n < 50; n += 1) await sendAndWait(bare, { ...pay, id: `p${n}` })
    assert.is(reads.length, count)
    await after.runtime.agent('a')!.prompt('last').result
    assert.is(asked.length, 52)
  })
})

describe('an agent that is spawned without a name', (it) => {
  it('is found by the same command on the next server', async (context) => {
    const { store } = countingStore()
    const { definition } = payer()
    const spawn = { type: 'agent.spawn', definition: 'payer', id: 'c1' }
    const answers: unknown[] = []
    for (let life = 0; life < 2; life += 1) {
      const serving = await serveAgents(context, [definition], { runtime: { store } })
      const bare = await serving.dial({ hello: { sessionId: 's1' } })
      answers.push(await sendAndWait(bare, spawn))
      const other = await bare.ask({ type: 'agent.spawn', definition: 'payer' })
      assert.is(other.type, 'ok')
      await serving.runtime.close()
    }
    assert.equal(answers[0], answers[1])
    assert.is((await store.list()).length, 2)
  })
})

describe('a decision about a call of a sub-agent that has ended', (it) => {
  const { boss } = approving()

  it('reads its log once, and none of agents that are not below', async (context) => {
    const { store, reads } = countingStore()
    const before = await serveAgents(context, [boss], { runtime: { store } })
    await before.runtime.spawn(boss, { id: 'stranger' })
    await before.runtime.close()
    const serving = await serveAgents(context, [boss], { runtime: { store } })
    const { run, call } = await untilApproval(serving, boss, 'b1')
    const { key } = call
    const bare = await serving.dial({ hello: { sessionId: 's1' } })
    const decide = { type: 'agent.decide', agentId: 'b1', callId: key, decision: 'approve' }
    assert.is((await bare.ask(decide)).type, 'ok')
    await run.result
    const [child = ''] = key.split('/', 1)
    reads.length = 0
    for (let n = 0; n < 20; n += 1) {
      const again = await bare.ask(decide)
      assert.is(again.type === 'error' && again.code, 'CALL_NOT_PENDING')
      const foreign = await bare.ask({ ...decide, callId: 'stranger/t0/tool/c' })
      assert.is(foreign.type === 'error' && foreign.code, 'CALL_NOT_PENDING')
    }
    // Its first record each time, to see whose it is; all of it once.
    assert.is(reads.filter((id) => id === child).length, 21)
    assert.is(reads.filter((id) => id === 'stranger').length, 20)
  })
})
