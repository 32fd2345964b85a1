import { requestsOf, type RequestOutcome } from '../src/loggedRequests.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import {
  calls,
  never,
  quiet,
  stalled,
  startAgent,
  tool,
  type HarnessOptions,
} from '../../../test/support/agentHarness.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const prompt = (content: string) => ({ type: 'agent.prompt', agentId: 'a1', content }) as const

/** An agent with what its log says of a request after each record, by the statuses it went through. */
async function start(context: CaseContext, options: HarnessOptions) {
  const started = await startAgent(context, options)
  const outcome = async (id: string): Promise<RequestOutcome | undefined> =>
    requestsOf(await started.records()).outcome(id)
  return { ...started, outcome }
}

const statuses = (records: readonly LogRecord[], id: string): string[] => {
  const all = records.map((_, index) => requestsOf(records.slice(0, index + 1)).outcome(id)?.status ?? '')
  return all.filter((status, index) => status !== '' && status !== all[index - 1])
}

describe('the requests of a log', (it) => {
  it('are those that were recorded, with what came of them', async (context) => {
    const { agent, records, outcome } = await start(context, { replies: ['one', 'two', stalled(['x'], never)] })
    agent.dispatch(prompt('1'), { requestId: 'first' })
    const second = agent.dispatch(prompt('2'), { requestId: 'second' })
    await second!.result
    assert.equal(await outcome('first'), { status: 'ended', runId: 'a1/r0', stopReason: 'stop', text: 'one' })
    assert.equal(await outcome('second'), { status: 'ended', runId: 'a1/r1', stopReason: 'stop', text: 'two' })
    assert.is(await outcome('third'), undefined)
    assert.equal(statuses(await records(), 'second'), ['queued', 'running', 'ended'])

    agent.dispatch(prompt('3'), { requestId: 'third' })
    agent.dispatch({ type: 'agent.followUp', agentId: 'a1', content: 'and?' }, { requestId: 'said' })
    await quiet()
    assert.is((await outcome('third'))?.status, 'running')
    agent.abort()
    await agent.settled()
    const third = await outcome('third')
    assert.is(third?.status === 'ended' && third.stopReason, 'aborted')
    assert.equal(await outcome('said'), { status: 'dropped' })
  })

  it('share what comes of the run that they were said into', async (context) => {
    const { agent, outcome, untilState } = await start(context, {
      replies: [calls('c', 'look'), 'heard'],
      tools: [tool('look', () => quiet().then(() => 'x'))],
    })
    const run = agent.dispatch(prompt('1'), { requestId: 'first' })
    await untilState('executing')
    agent.dispatch({ type: 'agent.steer', agentId: 'a1', content: 'faster' }, { requestId: 'said' })
    await run!.result
    assert.equal(await outcome('said'), await outcome('first'))
    const said = await outcome('said')
    assert.is(said?.status === 'ended' && said.text, 'heard')
  })

  it('follow a run over a pause and the request that resumed it', async (context) => {
    const { agent, outcome } = await start(context, {
      replies: [calls('c', 'look'), 'found'],
      tools: [tool('look', () => 'x')],
      limits: { turns: 1 },
    })
    await agent.dispatch(prompt('1'), { requestId: 'first' })!.result
    const paused = await outcome('first')
    assert.is(paused?.status === 'paused' && paused.reason.type, 'limit')
    await agent.dispatch({ type: 'agent.resume', agentId: 'a1' }, { requestId: 'more' })!.result
    assert.equal(await outcome('first'), { status: 'ended', runId: 'a1/r1', stopReason: 'stop', text: 'found' })
    assert.equal(await outcome('more'), await outcome('first'))
  })

  it('say that a paused run was given up', async (context) => {
    const { agent, outcome } = await start(context, {
      replies: [calls('c', 'look')],
      tools: [tool('look', () => 'x')],
      limits: { turns: 1 },
    })
    await agent.dispatch(prompt('1'), { requestId: 'first' })!.result
    agent.abort()
    await agent.settled()
    assert.equal(await outcome('first'), { status: 'ended', runId: 'a1/r0', stopReason: 'aborted', text: '' })
  })

  it('know commands without a run of their own', async (context) => {
    const { agent, outcome, untilState } = await start(context, {
      replies: [calls('c', 'risky'), 'ok'],
      tools: [tool('risky', () => 'done', { needsApproval: true })],
    })
    const run = agent.dispatch(prompt('1'), { requestId: 'first' })
    await untilState('paused')
    agent.dispatch({ type: 'agent.decide', agentId: 'a1', callId: 'c0', decision: 'approve' }, { requestId: 'yes' })
    await run!.result
    assert.equal(await outcome('yes'), { status: 'recorded' })
  })

  it('do not count a run whose messages were not all written before a crash, nor lose it', async (context) => {
    const store: Store = { ...memoryStore(), close: async () => {} }
    const first = await createRuntime({ store, clock: simulatedClock() })
    const define = () => defineAgent({ name: 'a', model: scriptedModel(['one']) })
    const agent = await first.spawn(define(), { id: 'a' })
    await agent.dispatch({ ...prompt('1'), agentId: 'a' }, { requestId: 'first' })!.result
    await first.close()
    const records: LogRecord[] = []
    for await (const record of store.read('a')) records.push(record)
    const cut = memoryStore()
    await (await cut.open('a')).release()
    const at = records.findIndex(({ type }) => type === 'run.start')
    const lease = await cut.open('a')
    await cut.append('a', records.slice(0, at + 1))
    await lease.release()
    assert.is(requestsOf(records.slice(0, at + 1)).has('first'), false)
    const second = await createRuntime({ store: cut, clock: simulatedClock() })
    context.cleanup(() => second.close())
    const resumed = await second.resume('a', define())
    await resumed.settled()
    const all: LogRecord[] = []
    for await (const record of cut.read('a')) all.push(record)
    assert.is(requestsOf(all).outcome('first'), undefined)
    await resumed.dispatch({ ...prompt('1'), agentId: 'a' }, { requestId: 'first' })!.result
    for await (const record of cut.read('a', all.length + 1)) all.push(record)
    assert.is(requestsOf(all).outcome('first')?.status, 'ended')
  })
})
