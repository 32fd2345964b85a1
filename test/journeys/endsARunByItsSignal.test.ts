import { race } from '../../packages/groups/src/parallel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, stalled, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { serveAgents } from '../../packages/bridge/test/server/bridgeHarness.ts'
import { assert, describe } from '../support/suite.ts'

/** A signal that counts who listens to it. */
function counted() {
  const controller = new AbortController()
  const { signal } = controller
  const heard = { listeners: 0 }
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    heard.listeners += 1
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    heard.listeners -= 1
    remove(...args)
  }
  return { controller, signal, heard }
}

describe('a prompt with a signal', (it) => {
  it('asks nothing when the signal is aborted already', async (context) => {
    const { agent, script, records } = await startAgent(context, { replies: ['hi'] })
    const before = await records()
    const run = agent.prompt('go', { signal: AbortSignal.abort() })
    const { stopReason, turns, runId } = await run.result
    assert.equal([stopReason, turns, runId], ['aborted', 0, ''])
    for await (const event of run) assert.unreachable(event.type)
    assert.equal([await records(), script.requests.length], [before, 0])
    assert.throws(() => agent.prompt('', { signal: AbortSignal.abort() }), withCode('INVALID_CONTENT'))
    assert.is((await agent.prompt('go').result).text, 'hi')
  })

  it('is withdrawn while it waits, and the run before it goes on', async (context) => {
    const open = gate()
    const slow: ScriptedReply = async () => {
      await open.promise
      return 'first'
    }
    const { agent, ofType, records } = await startAgent(context, { replies: [slow, 'third'] })
    const { controller, signal, heard } = counted()
    const first = agent.prompt('one')
    const second = agent.prompt('two', { signal })
    const third = agent.prompt('three')
    controller.abort()
    assert.equal([(await second.result).stopReason, (await second.result).runId], ['aborted', ''])
    open.resolve()
    assert.equal([(await first.result).text, (await third.result).text], ['first', 'third'])
    const [drop] = ofType('queue.changed').filter(({ why }) => why === 'dropped')
    assert.equal(drop?.removed, [second.requestId])
    assert.not.match(JSON.stringify((await records()).filter(({ type }) => type === 'message.added')), 'two')
    assert.is(heard.listeners, 0)
  })

  it('ends its run under way, keeps what had arrived, and the next prompt runs', async (context) => {
    const open = gate()
    const { agent, until, ofType } = await startAgent(context, { replies: [stalled(['half'], open.promise), 'next'] })
    const { controller, signal } = counted()
    const run = agent.prompt('one', { signal })
    const next = agent.prompt('two')
    await until(({ type }) => type === 'reply.delta')
    controller.abort()
    open.resolve()
    assert.equal([(await run.result).stopReason, (await run.result).text], ['aborted', 'half'])
    assert.is((await next.result).text, 'next')
    assert.is(ofType('run.end').length, 2)
  })

  it('does nothing once its run is over, though another is under way', async (context) => {
    const open = gate()
    const { agent, until } = await startAgent(context, { replies: ['one', stalled(['two'], open.promise)] })
    const { controller, signal, heard } = counted()
    await agent.prompt('go', { signal }).result
    assert.is(heard.listeners, 0)
    const run = agent.prompt('again')
    await until((event) => event.type === 'reply.delta' && event.text === 'two')
    controller.abort()
    open.resolve()
    assert.is((await run.result).stopReason, 'stop')
  })

  it('ends its run from inside a listener, before the machine has seen what came after', async (context) => {
    const { agent } = await startAgent(context, {
      replies: [calls('c', 'look'), 'never'],
      tools: [tool('look', () => 'seen')],
    })
    const controller = new AbortController()
    const other = new AbortController()
    const seen: Promise<{ stopReason: string }>[] = []
    agent.subscribe((event) => {
      if (event.type !== 'tool.end') return
      seen.push(agent.prompt('withdrawn', { signal: other.signal }).result)
      other.abort()
      controller.abort()
    })
    assert.is((await agent.prompt('go', { signal: controller.signal }).result).stopReason, 'aborted')
    assert.equal([seen.length, (await seen[0])?.stopReason], [1, 'aborted'])
  })

  it('takes what is no signal for a mistake', async (context) => {
    const { agent } = await startAgent(context)
    assert.throws(
      () => agent.prompt('go', { signal: new AbortController() as never }),
      withCode('INVALID_OPTION', 'signal'),
    )
  })

  it('can be interrupted and resumed with one, and stopped under it', async (context) => {
    const open = gate()
    const { agent, until } = await startAgent(context, {
      replies: [calls('c', 'look'), stalled(['x'], open.promise)],
      tools: [tool('look', () => 'seen')],
      limits: { turns: 1 },
    })
    await agent.prompt('go').result
    const controller = new AbortController()
    const run = agent.resume({ signal: controller.signal })
    await until(({ type }) => type === 'reply.delta')
    controller.abort()
    open.resolve()
    assert.is((await run.result).stopReason, 'aborted')
    const late = new AbortController()
    const last = agent.interrupt('more', { signal: late.signal })
    await agent.stop()
    late.abort()
    assert.is((await last.result).stopReason, 'aborted')
  })

  it('does the same for a remote agent', async (context) => {
    const open = gate()
    const model = scriptedModel([stalled(['half'], open.promise), 'last'])
    const worker = defineAgent({ name: 'worker', model })
    const serving = await serveAgents(context, [worker])
    await serving.runtime.spawn(worker, { id: 'w' })
    const agent = serving.connect().agent('w')
    assert.is((await agent.prompt('never', { signal: AbortSignal.abort() }).result).stopReason, 'aborted')
    const [first, second] = [new AbortController(), new AbortController()]
    const run = agent.prompt('one', { signal: first.signal })
    const waiting = agent.prompt('two', { signal: second.signal })
    const last = agent.prompt('three')
    for await (const event of run) if (event.type === 'reply.delta') break
    second.abort()
    assert.equal([(await waiting.result).stopReason, (await waiting.result).runId], ['aborted', ''])
    first.abort()
    assert.equal([(await run.result).stopReason, (await run.result).text], ['aborted', 'half'])
    open.resolve()
    assert.is((await last.result).text, 'last')
    assert.is(model.requests.length, 2)
  })

  it('ends a group that is given one, as before', async (context) => {
    const { runtime } = await startAgent(context)
    const abort = new AbortController()
    const slow = defineAgent({ name: 'slow', model: scriptedModel([stalled(['x'], new Promise(() => {}))]) })
    const group = race(runtime, [slow], 'go', { signal: abort.signal })
    abort.abort()
    assert.is((await group).winner, null)
  })
})
