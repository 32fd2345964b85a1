import { createRuntime, defineAgent, memoryStore, type LogRecord, type ModelRequest } from '../../src/index.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { cutStore, recordsOf, settled } from '../journeys/cutLogs.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { notesIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

/** As with the defaults, for results that are as small as those of tests. */
const fold = { work: 300, minBatch: 300, keepSteps: 6, indexTokens: 100, cap: 50_000 } as const
const look = tool('look', ({ at }) => `seen${String(at)}Thing\n${'word '.repeat(240)}`, { effects: 'none' })
const minute = 60_000
const week = 7 * 24 * 60 * minute

/** A worker that looks eight times after each message. */
function worker() {
  const requests: ModelRequest[] = []
  const model = policyModel((request) => {
    requests.push(request)
    const last = request.messages.findLastIndex(
      ({ role, content }) =>
        role === 'user' && content.some((block) => block.type === 'text' && /^go \d/.test(block.text)),
    )
    const at = request.messages.slice(last).filter(({ role }) => role === 'toolResult').length
    return at === 8 ? 'done' : { toolCalls: [{ name: 'look', input: { at } }] }
  })
  const definition = defineAgent({
    name: 'worker',
    model,
    tools: [look],
    checkRequests: true,
    compaction: false,
    braking: { fold },
  })
  return { definition, requests }
}

const foldsIn = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.type === 'prune.applied' ? [record.steps] : []))

async function paused(pause: number) {
  const clock = simulatedClock()
  const store = memoryStore()
  const { definition, requests } = worker()
  const runtime = await createRuntime({ store, clock })
  const agent = await runtime.spawn(definition, { id: 'w' })
  await agent.prompt('go 1').result
  await clock.advance(pause)
  await agent.prompt('go 2').result
  const records = await recordsOf(store, 'w')
  await runtime.close()
  return { records, requests }
}

describe('a message after a pause', (it) => {
  it('folds before it is answered, once the cache is dead, though the conversation is short', async () => {
    assert.equal(foldsIn((await paused(4 * minute)).records), [])
    for (const pause of [5 * minute, week]) {
      const { records, requests } = await paused(pause)
      assert.equal(foldsIn(records), [[2, 4, 6, 8, 10]])
      const types = records.slice(records.findLastIndex(({ type }) => type === 'run.start')).map(({ type }) => type)
      assert.equal(types.slice(0, 4), ['run.start', 'message.added', 'prune.applied', 'turn.start'])
      assert.equal([notesIn(requests[8]!.messages).length, notesIn(requests[9]!.messages).length], [0, 2])
    }
  })

  it('folds the same after a crash at any record', { timeoutMs: 20_000 }, async () => {
    const whole = await paused(week)
    const begun = whole.records.findLastIndex(({ type }) => type === 'run.start')
    const last = whole.records.at(-1)!.time
    for (let cut = begun + 2; cut < whole.records.length; cut++) {
      const store = await cutStore('w', whole.records.slice(0, cut))
      const runtime = await createRuntime({ store, clock: simulatedClock(last + minute) })
      const again = worker()
      const agent = await runtime.resume('w', again.definition, { continue: false })
      if (agent.pause !== null) {
        const ended = settled(agent)
        agent.resume()
        await ended
      }
      assert.equal(foldsIn(await recordsOf(store, 'w')), foldsIn(whole.records), `cut at ${cut}`)
      await runtime.close()
    }
  })

  it('folds while a call or a person takes as long', async (context) => {
    const harness = await startAgent(context, {
      braking: { fold },
      tools: [look, tool('ask', () => 'yes', { needsApproval: true })],
      replies: [
        ...Array.from({ length: 10 }, (_, at) => calls(`c${at}-`, ['look', { at }])),
        calls('q', 'ask'),
        'done',
      ],
    })
    const run = harness.agent.prompt('the task')
    await harness.until(({ type }) => type === 'approval.requested')
    await harness.clock.advance(week)
    harness.agent.decide('q0', 'approve')
    await run.result
    assert.equal(foldsIn(await harness.records()), [[2, 4, 6, 8, 10, 12, 14]])
  })

  it('changes nothing without folding', async (context) => {
    const harness = await startAgent(context, { replies: ['one', 'two'], braking: { recall: true } })
    await harness.agent.prompt('go').result
    await harness.clock.advance(week)
    await harness.agent.prompt('go on').result
    assert.equal(harness.events.filter(({ type }) => type === 'turn.start').length, 2)
  })
})

describe('a sub-agent with runs of a known length', (it) => {
  const looks = (from: number, times: number) =>
    Array.from({ length: times }, (_, at) => calls(`c${from + at}-`, ['look', { at: from + at }]))

  it('folds early only if the last ones took long', async (context) => {
    for (const [turns, isFolding] of [
      [31, true],
      [5, false],
    ] as const) {
      const runs = [turns, turns, 20]
      const helper = defineAgent({
        name: 'helper',
        model: scriptedModel(runs.flatMap((times, run) => [...looks(100 * run, times - 1), 'the answer'])),
        tools: [look],
        compaction: false,
        braking: { fold: { ...fold, minBatch: 2_000 } },
      })
      const harness = await startAgent(context, {
        id: `parent${turns}`,
        agents: [helper],
        replies: [...runs.map((_, run) => calls(`h${run}-`, ['helper', { task: 'help' }])), 'done'],
      })
      await harness.agent.prompt('the task').result
      const starts = (await harness.records()).flatMap((record) =>
        record.type === 'tool.start' ? (record.childId ?? []) : [],
      )
      const logs = await Promise.all(starts.map((id) => recordsOf(harness.store, id)))
      const expected = logs.map(([created]) => (created?.type === 'agent.created' ? created.parent?.expected : null))
      assert.equal(expected, [undefined, undefined, turns])
      assert.is(foldsIn(logs[2]!).length > 0, isFolding)
      assert.is(foldsIn(logs[0]!).length, turns > 30 ? 1 : 0)
    }
  })
})
