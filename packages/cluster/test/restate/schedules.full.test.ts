import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { sleepTool } from '../../../../src/actors/parts/sleep/sleepTool.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert } from '../../../../test/support/suite.ts'
import { Switchboard } from './crash/switchboard.ts'
import { WorkerProcess } from './crash/workerProcess.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine, type EngineContext } from './withEngine.ts'

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

/** Resolves with the log once so many records of a type are in it. */
async function until(store: Store, agentId: string, type: LogRecord['type'], count = 1): Promise<readonly LogRecord[]> {
  for (;;) {
    const records = await recordsIn(store, agentId).catch(() => [])
    if (records.filter((record) => record.type === type).length >= count) return records
    await turn()
  }
}

const firings = (records: readonly LogRecord[]): string[] =>
  records.flatMap((record) => (record.type === 'run.start' ? [record.requestId.split('/').slice(0, 2).join('/')] : []))

const worker = defineAgent({
  name: 'worker',
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    return last.role === 'user' && textOf(last.content) === 'Sleep.'
      ? { toolCalls: [{ name: 'sleep', input: { seconds: 1 } }] }
      : 'ok'
  }),
  tools: [sleepTool()],
})

/** A worker in a process of its own, and the board that leads the engine to it. */
async function workerBehind(context: EngineContext, board: Switchboard, armed?: 'tool'): Promise<WorkerProcess> {
  const { file, name, cleanup } = context
  const settings = { where: file, name, effectsFile: `${file}.effects`, ...(armed === undefined ? {} : { armed }) }
  const process = WorkerProcess.worker(settings)
  cleanup(() => process.kill())
  board.switchTo(await process.port())
  return process
}

describeWithEngine('a schedule of an agent that an engine places', (it) => {
  it('fires by a delayed request of the engine, and the agent is nowhere meanwhile', async (context) => {
    const { runtime } = await context.worker([worker])
    const client = await context.client()
    const agent = await client.open('a', 'worker')
    await agent.schedule({ id: 'x', at: Date.now() + 1_500, prompt: 'Hello.' })
    const store = context.store()
    await until(store, 'a', 'schedule.set')
    while (runtime.agent('a') !== undefined) await turn()
    assert.not.ok((await recordsIn(store, 'a')).some(({ type }) => type === 'schedule.fired'))
    const records = await until(store, 'a', 'run.end')
    assert.equal(firings(records), ['schedule/x'])
  })

  it('fires again and again, each time once, until it is removed', async (context) => {
    await context.worker([worker])
    const client = await context.client()
    const agent = await client.open('a', 'worker')
    await agent.schedule({ id: 'x', every: 1_000, prompt: 'Hello.' })
    const store = context.store()
    await until(store, 'a', 'run.end', 3)
    await agent.unschedule('x')
    const records = await until(store, 'a', 'schedule.removed')
    const ids = records.flatMap((record) => (record.type === 'run.start' ? [record.requestId] : []))
    assert.is(new Set(ids).size, ids.length)
    assert.ok(ids.every((id) => id.startsWith('schedule/x/')))
  })

  it('is refused in the words of the agent', async (context) => {
    await context.worker([worker])
    const agent = await (await context.client()).open('a', 'worker')
    await assert.rejects(
      agent.schedule({ id: 'x', cron: '61 * * * *', prompt: 'x' }),
      withCode('SCHEDULE_INVALID', '61'),
    )
    await assert.rejects(agent.unschedule('x'), withCode('SCHEDULE_NOT_FOUND', 'it has none'))
  })

  it('wakes a call that sleeps', async (context) => {
    const { runtime } = await context.worker([worker])
    const client = await context.client()
    const outcome = await client.request(
      { type: 'agent.prompt', agentId: 'a', content: 'Sleep.' },
      { definition: 'worker' },
    )
    assert.is(outcome.status, 'paused')
    assert.is(runtime.agent('a'), undefined)
    const records = await until(context.store(), 'a', 'run.end')
    assert.is(records.filter(({ type }) => type === 'timer.fired').length, 1)
  })

  it('fires once after its worker was killed before its time', { timeoutMs: 60_000 }, async (context) => {
    const board = await Switchboard.open()
    context.cleanup(() => board.close())
    const first = await workerBehind(context, board)
    await context.engine.register(board.url)
    const agent = await (await context.client()).open('a', 'job')
    await agent.schedule({ id: 'x', at: Date.now() + 2_000, prompt: 'look' })
    await until(context.store(), 'a', 'schedule.set')
    await first.kill()
    await workerBehind(context, board)
    const records = await until(context.store(), 'a', 'run.end')
    assert.equal(firings(records), ['schedule/x'])
    assert.is(records.filter(({ type }) => type === 'schedule.fired').length, 1)
  })

  it('fires once when its worker is killed in the middle of its run', { timeoutMs: 60_000 }, async (context) => {
    const board = await Switchboard.open()
    context.cleanup(() => board.close())
    const first = await workerBehind(context, board, 'tool')
    await context.engine.register(board.url)
    const agent = await (await context.client()).open('a', 'job')
    await agent.schedule({ id: 'x', at: Date.now() + 1_000, prompt: 'look' })
    await until(context.store(), 'a', 'tool.start')
    await first.at([{ answers: new Promise(() => {}) }])
    await first.kill()
    await workerBehind(context, board)
    const store = context.store()
    const ended = async (): Promise<readonly LogRecord[]> => {
      for (;;) {
        const records = await recordsIn(store, 'a')
        if (records.at(-1)?.type === 'run.end' && JSON.stringify(records.at(-1)).includes('"stop"')) return records
        await turn()
      }
    }
    const records = await ended()
    assert.is(records.filter(({ type }) => type === 'schedule.fired').length, 1)
    const prompts = records.filter((record) => record.type === 'run.start' && record.requestId.startsWith('schedule/'))
    assert.is(prompts.length, 1)
  })
})
