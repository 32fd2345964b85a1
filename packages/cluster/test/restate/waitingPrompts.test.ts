import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { checkLog } from '../../../../test/support/journeyRules.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { Attempt, type Step } from '../../src/restate/attempt.ts'
import { readCarried, type Carried } from '../../src/restate/carried.ts'
import { Definitions } from '../../src/restate/definitions.ts'
import { TenantQueue } from '../../src/restate/tenantQueue.ts'
import { WorkerAgents } from '../../src/restate/workerAgents.ts'
import { heldReply } from './heldReply.ts'
import { recordsIn } from './recordsIn.ts'

/** A worker without its engine, in which one run may be under way. */
async function workerOn({ cleanup }: CaseContext, store: Store, definition: AgentDefinition) {
  const runtime = await createRuntime({ store: { ...store, close: async () => {} } })
  cleanup(() => runtime.close({ detach: true }))
  const agents = new WorkerAgents({
    runtime,
    store,
    definitions: new Definitions([definition]),
    deps: undefined,
    warm: 10,
    logger: undefined,
    clock: systemClock,
    tenants: new TenantQueue({ by: 'tenant', runs: 1 }, () => 1),
  })
  const attempt = (agentId: string, carried: Carried, signal = new AbortController().signal): Attempt =>
    new Attempt(agents, agentId, carried, signal)
  return { agents, attempt }
}

const command = (agentId: string, verb: string, requestId: string, body: object = {}): Carried =>
  readCarried(agentId, verb, body, requestId)
const prompt = (agentId: string, requestId: string): Carried =>
  command(agentId, 'prompt', requestId, { content: `Prompt ${requestId}` })

const outcomeOf = (step: Step) => ('outcome' in step ? step.outcome : undefined)
const isOver = (thrown: unknown): boolean => (thrown as Error).name === 'AttemptOver'

/** A worker whose only place has the run of agent `a1`, which `held` lets go on, while the prompt `p2` of `a2` waits. */
async function crowded(context: CaseContext) {
  const store = memoryStore()
  const held = heldReply('One.')
  const definition = defineAgent({
    name: 'coder',
    model: scriptedModel([held.reply, { text: 'Two.' }, { text: 'Three.' }]),
  })
  const worker = await workerOn(context, store, definition)
  const first = worker.attempt('a1', prompt('a1', 'p1')).next()
  await held.asked
  const over = new AbortController()
  const waiting = worker.attempt('a2', prompt('a2', 'p2'), over.signal)
  const step = waiting.next()
  await quiet()
  assert.is(worker.agents.queued, 1)
  return { store, held, definition, worker, first, waiting, step, over }
}

describe('a prompt that waits for the limits of its tenant', (it) => {
  for (const [what, verb, body] of [
    ['an abort of all that runs', 'abort', {}],
    ['an abort of its run', 'abort', { run: 'p2' }],
    ['a stop', 'stop', {}],
  ] as const)
    it(`ends at once with ${what}, and its log has nothing of it`, async (context) => {
      const { store, held, worker, first, waiting, step } = await crowded(context)
      waiting.take(command('a2', verb, 'x1', body))
      assert.equal(outcomeOf(await step), { status: 'done', seq: 0, stopReason: 'aborted' })
      assert.is(worker.agents.queued, 0)
      assert.equal(await recordsIn(store, 'a2'), [])
      held.goOn()
      assert.is(outcomeOf(await first)?.stopReason, 'stop')
      // Its place is free for the next.
      assert.is(outcomeOf(await worker.attempt('a2', prompt('a2', 'p3')).next())?.stopReason, 'stop')
      assert.equal(checkLog(await recordsIn(store, 'a2'), { isWhole: true }), [])
    })

  it('ends at once when its invocation is cancelled', async (context) => {
    const { store, held, first, waiting, step } = await crowded(context)
    await waiting.cancel()
    assert.is(outcomeOf(await step)?.stopReason, 'aborted')
    assert.equal(await recordsIn(store, 'a2'), [])
    held.goOn()
    await first
  })

  it('goes on to wait when another run is aborted, or it is steered', async (context) => {
    const { store, held, worker, first, waiting, step } = await crowded(context)
    waiting.take(command('a2', 'abort', 'x1', { run: 'p9' }))
    waiting.take(command('a2', 'steer', 's1', { content: 'Also this.' }))
    await quiet()
    assert.is(worker.agents.queued, 1)
    held.goOn()
    await first
    assert.is(outcomeOf(await step)?.stopReason, 'stop')
    const said = (await recordsIn(store, 'a2')).filter(({ type }) => type === 'message.added')
    assert.is(said.length, 2)
  })

  it('begins once, elsewhere, when its worker dies or the engine ends the attempt', async (context) => {
    const { store, held, definition, worker, first, over, step } = await crowded(context)
    over.abort()
    await assert.rejects(() => step, isOver)
    assert.is(worker.agents.queued, 0)
    assert.equal(await recordsIn(store, 'a2'), [])
    const other = await workerOn(context, store, definition)
    for (const _ of [1, 2])
      assert.is(outcomeOf(await other.attempt('a2', prompt('a2', 'p2')).next())?.stopReason, 'stop')
    const records = await recordsIn(store, 'a2')
    assert.is(records.filter(({ type }) => type === 'run.start').length, 1)
    assert.equal(checkLog(records, { isWhole: true }), [])
    held.goOn()
    await first
  })

  it('goes elsewhere at once when its worker leaves, while what is under way there ends', async (context) => {
    const { store, held, worker, first, step } = await crowded(context)
    worker.agents.leave()
    await assert.rejects(() => step, isOver)
    await assert.rejects(() => worker.attempt('a3', prompt('a3', 'p3')).next(), isOver)
    assert.equal(await recordsIn(store, 'a2'), [])
    held.goOn()
    assert.is(outcomeOf(await first)?.stopReason, 'stop')
  })

  it('is ended in its log, without a place, if an attempt before had begun it', async (context) => {
    const store = memoryStore()
    const [cut, busy] = [heldReply('Never.'), heldReply('Busy.')]
    const definition = defineAgent({
      name: 'coder',
      model: scriptedModel([cut.reply, busy.reply, heldReply('No.').reply]),
    })
    const dying = await workerOn(context, store, definition)
    const death = new AbortController()
    const begun = dying.attempt('a2', prompt('a2', 'p2'), death.signal).next()
    await cut.asked
    death.abort()
    await assert.rejects(() => begun, isOver)
    const worker = await workerOn(context, store, definition)
    const first = worker.attempt('a1', prompt('a1', 'p1')).next()
    await busy.asked
    const again = worker.attempt('a2', prompt('a2', 'p2'))
    const step = again.next()
    await quiet()
    assert.is(worker.agents.queued, 1)
    again.take(command('a2', 'abort', 'x1'))
    const { stopReason, from } = outcomeOf(await step) ?? {}
    assert.equal([stopReason, from], ['aborted', 2])
    const ends = (await recordsIn(store, 'a2')).flatMap((record) =>
      record.type === 'run.end' ? [record.stopReason] : [],
    )
    assert.equal(ends, ['paused', 'aborted'])
    busy.goOn()
    assert.is(outcomeOf(await first)?.stopReason, 'stop')
  })
})
