import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scheduleTools } from '../../../packages/tools/src/schedules/scheduleTools.ts'
import { rebuildContext } from '../../../src/machines/rebuildContext.ts'
import { readAll } from '../../../packages/evaluation/src/testing/contractDemands.ts'
import { memoryStore } from '../../../packages/stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../../packages/evaluation/src/testing/simulatedClock.ts'
import { scriptedModel, type ScriptedReply } from '../../../packages/evaluation/src/testing/scriptedModel.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { forkSession } from '../../../src/sessions.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { failsWith } from '../../../packages/stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../../support/suite.ts'

const start = Date.parse('2026-05-04T08:00:00Z')
const hourly = { id: 'hourly', every: 3_600, prompt: 'Look.' }

const calls = (...made: readonly (readonly [string, object])[]): ScriptedReply => ({
  toolCalls: made.map(([name, input]) => ({ name, input: input as never })),
})

async function scene(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  replies: readonly ScriptedReply[],
  options: Parameters<typeof scheduleTools>[0] = { needsApproval: false },
  redact: object = {},
) {
  const store = memoryStore()
  const clock = simulatedClock(start)
  const model = scriptedModel(replies)
  const runtime = await createRuntime({ store: { ...store, close: async () => {} }, clock, redact })
  cleanup(() => runtime.close())
  const definition = defineAgent({ name: 'planner', model, tools: scheduleTools(options), braking: { revert: true } })
  const agent: Agent = await runtime.spawn(definition, { id: 'a' })
  /** In the order of the calls. */
  const results = async (): Promise<string[]> =>
    (await readAll(store, 'a'))
      .flatMap((record) => (record.type === 'tool.end' ? [record] : []))
      .toSorted((one, other) => one.nodeId - other.nodeId)
      .map(({ message }) => textOf(message.content))
  return { store, clock, runtime, definition, agent, model, results }
}

describe('the tools for schedules', (it) => {
  it('make, list and remove those of the model, and change no others', async (context) => {
    const { agent, results } = await scene(context, [
      calls(
        ['schedule', hourly],
        ['schedule', { id: 'mine', at: '2026-05-05T10:00:00+02:00', prompt: 'Go.' }],
        ['list_schedules', {}],
      ),
      calls(
        ['unschedule', { id: 'hourly' }],
        ['unschedule', { id: 'theirs' }],
        ['schedule', { ...hourly, id: 'theirs' }],
        ['unschedule', { id: 'no' }],
      ),
      'done',
    ])
    agent.schedule({ id: 'theirs', every: 60_000_000, prompt: 'Theirs.' })
    await agent.prompt('Plan.').result
    const [set, , list, removed, ...refused] = await results()
    assert.is(set, 'Set: hourly, every hour, first 2026-05-04 09:00:00Z. It is 2026-05-04 08:00:00Z now.')
    assert.match(list!, /- hourly, every hour, next 2026-05-04 09:00:00Z: Look\./)
    assert.match(list!, /- mine, once, next 2026-05-05 08:00:00Z: Go\./)
    assert.match(list!, /- theirs, .*, not yours: Theirs\./)
    assert.is(removed, 'Removed: hourly.')
    for (const [index, words] of [/not yours/, /not yours/, /no schedule "no"/].entries())
      assert.match(refused[index]!, words)
    assert.equal(
      agent.schedules().map(({ id, by }) => [id, by]),
      [
        ['theirs', 'person'],
        ['mine', 'model'],
      ],
    )
  })

  it('ask people first, unless told otherwise', async (context) => {
    const { agent } = await scene(context, [calls(['schedule', hourly]), 'done'], {})
    const run = agent.prompt('Plan.')
    await agent.settled()
    const [pending] = agent.pending()
    assert.equal([pending!.kind, pending!.name, agent.schedules()], ['approval', 'schedule', []])
    agent.decide(pending!.key, 'approve')
    await run.result
    assert.is(agent.schedules().length, 1)
  })

  it('keep to a minute, a number and a length', async (context) => {
    const { agent, results } = await scene(
      context,
      [
        calls(
          ['schedule', { ...hourly, every: 59 }],
          ['schedule', { ...hourly, every: undefined, cron: '*/10 * * * * *' }],
          ['schedule', hourly],
          ['schedule', { ...hourly, id: 'other' }],
          ['schedule', { ...hourly, prompt: 'x'.repeat(4_001) }],
          ['schedule', { ...hourly, id: 'a/b' }],
        ),
        'done',
      ],
      { needsApproval: false, max: 1 },
    )
    await agent.prompt('Plan.').result
    const all = await results()
    for (const [index, words] of [/from 60000/, /after 10000 ms/, /^Set/, /the most allowed/, /prompt/, /id/].entries())
      assert.match(all[index]!, words)
    assert.throws(() => scheduleTools({ minEveryMs: 5_000 }), failsWith('INVALID_OPTION', 'minEveryMs'))
  })

  it('lose what the model made on a branch that it abandons; what people made stays', async (context) => {
    const { agent, store } = await scene(context, [
      calls(['schedule', { ...hourly, id: 'before' }]),
      calls(['schedule', hourly]),
      'two',
    ])
    await agent.prompt('Plan.').result
    // n3 is the result of the first call.
    const head = 3
    agent.schedule({ id: 'theirs', every: 60_000_000, prompt: 'Theirs.' })
    assert.is(agent.schedules().length, 3)
    agent.revert(`n${head}`, { category: 'tangent', summary: 'No plan.' })
    await agent.settled()
    assert.equal(
      agent
        .schedules()
        .map(({ id }) => id)
        .toSorted(),
      ['before', 'theirs'],
    )
    await agent.durable()
    // What is read again is what is live.
    const parts = rebuildContext(await readAll(store, 'a')).parts
    assert.equal(Object.keys(parts.schedules!.schedules).toSorted(), ['before', 'theirs'])
  })

  it('leave nothing to a fork, and a secret in no record', async (context) => {
    const { agent, store, runtime, definition, clock } = await scene(
      context,
      [
        calls(['schedule', { ...hourly, prompt: 'Say hunter2.' }]),
        'done',
        (request) => JSON.stringify(request.messages.at(-1)),
      ],
      { needsApproval: false },
      { secrets: { WORD: 'hunter2' } },
    )
    await agent.prompt('Plan.').result
    agent.schedule({ id: 'theirs', at: start + 60_000, prompt: 'Say hunter2 too.' })
    await agent.durable()
    await forkSession(store, 'a', agent.conversation.head!, { id: 'b' })
    const forked = await runtime.resume('b', definition)
    assert.equal(forked.schedules(), [])
    await clock.advance(60_000)
    await agent.settled()
    assert.not.match(JSON.stringify(await readAll(store, 'a')), /hunter2/)
    const last = agent.conversation.trunk().at(-1)!
    assert.match(textOf(last.message.content), /Say .* too\./)
    assert.equal(
      rebuildContext(await readAll(store, 'a')).parts.schedules!.schedules['hourly']!.prompt.includes('hunter2'),
      false,
    )
  })
})
