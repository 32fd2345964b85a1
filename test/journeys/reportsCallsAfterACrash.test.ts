import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineTool, type ToolEffects } from '../../src/actors/tools/defineTool.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { checkLog } from '../support/journeyRules.ts'
import { gate, quiet, usageOf } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

const usage = usageOf(10, 2)

/** Builds twice in the background, perhaps waits, and in the end says how often it has heard of it. `built` is called with the key of each call. */
const builder = (effects: ToolEffects, waits: boolean, built: (key: string) => unknown) =>
  defineAgent({
    name: 'builder',
    tools: [
      defineTool({
        name: 'build',
        description: 'Builds.',
        input: z.object({ what: z.string() }),
        effects,
        background: true,
        run: async ({ what }, { key }) => {
          await built(key)
          return `${what} built`
        },
      }),
    ],
    model: policyModel(({ messages }) => {
      const said = messages.map(({ content }) => textOf(content)).join('\n')
      const results = messages.filter(({ role }) => role === 'toolResult').length
      const build = (what: string) => ({ name: 'build', input: { what } })
      if (results === 0) return { toolCalls: [build('site'), build('docs')], usage }
      if (waits && results === 2) return { toolCalls: [{ name: 'wait_for', input: {} }], usage }
      return { text: `${said.split('Report of').length - 1} heard`, usage }
    }),
  })

async function live(
  context: Pick<CaseContext, 'cleanup'>,
  records: readonly LogRecord[],
  definition: ReturnType<typeof builder>,
) {
  const { runtime, store } = await runtimeOver(context, { a1: records })
  return { runtime, store, agent: await runtime.open('a1', definition) }
}

async function settle({ runtime }: Pick<Awaited<ReturnType<typeof live>>, 'runtime'>): Promise<void> {
  for (let idle = 0; idle < 5; idle += 1) {
    await quiet()
    if (runtime.agents().some(({ state }) => state !== 'idle' && state !== 'paused')) idle = 0
  }
}

const reportsIn = (record: LogRecord): number =>
  (record.type === 'message.added' && record.message.provenance?.type === 'report') ||
  (record.type === 'tool.end' && record.delivers !== undefined)
    ? textOf(record.message.content).split('Report of').length - 1
    : 0

const heard = (records: readonly LogRecord[]): number => records.reduce((sum, record) => sum + reportsIn(record), 0)
const reported = (records: readonly LogRecord[]): string[] =>
  records.flatMap((record) => (record.type === 'call.reported' ? [`${record.id} ${record.ended ?? 'ended'}`] : []))

async function wholeLife(effects: ToolEffects, waits: boolean): Promise<LogRecord[]> {
  const one = await live({ cleanup: () => {} }, [], builder(effects, waits, quiet))
  await one.agent.prompt('go').result
  await settle(one)
  await one.runtime.close()
  return recordsOf(one.store, 'a1')
}

for (const effects of ['idempotent', 'irreversible'] as const)
  for (const waits of [false, true]) {
    const whole = await wholeLife(effects, waits)
    describe(`${effects} calls in the background ${waits ? 'that are waited for' : 'that wake the agent'} report once`, (it) => {
      for (let left = whole.findIndex(({ type }) => type === 'reply.end') + 1; left <= whole.length; left += 1)
        it(`when the agent died after record ${left}, ${whole[left - 1]!.type}`, async (context) => {
          const begun: string[] = []
          const past = whole.slice(0, left)
          const one = await live(
            context,
            past,
            builder(effects, waits, (key) => void begun.push(key)),
          )
          await settle(one)
          if (one.agent.pause !== null) await one.agent.resume().result
          await settle(one)
          const records = await recordsOf(one.store, 'a1')
          const receipts = records.filter(
            (record) => record.type === 'tool.end' && record.name === 'build' && !record.message.isError,
          ).length
          assert.is(heard(records), receipts)
          assert.equal(new Set(reported(records).map((line) => line.split(' ')[0])).size, receipts)
          assert.is(reported(records).length, receipts)
          assert.is(new Set(begun).size, begun.length, 'each began once in this life')
          assert.equal(checkLog(records, { isWhole: false }), [])
          // A call with its receipt in the log has begun, if it may not begin twice.
          const open = past.filter(
            (record) => record.type === 'tool.end' && record.name === 'build' && !reportedIn(past, record.callId),
          )
          if (effects === 'irreversible')
            assert.equal(
              reported(records.slice(left)).filter((line) => line.endsWith('interrupted')).length,
              open.length,
            )
          else assert.not.ok(reported(records).some((line) => line.endsWith('interrupted')))
          await one.runtime.close()
        })
    })
  }

const reportedIn = (records: readonly LogRecord[], callId: string): boolean =>
  records.some((record) => record.type === 'call.reported' && record.callId === callId)

describe('a call in the background after a restart', (it) => {
  it('that stays paused begins with resume', async (context) => {
    const whole = await wholeLife('none', false)
    const past = whole.slice(
      0,
      whole.findIndex(({ type }) => type === 'call.reported'),
    )
    const begun: string[] = []
    const { runtime, store } = await runtimeOver(context, { a1: past })
    const agent = await runtime.resume(
      'a1',
      builder('none', false, (key) => void begun.push(key)),
      {
        continue: false,
      },
    )
    await quiet()
    assert.equal(begun, [])
    agent.resume()
    await settle({ runtime })
    assert.is(begun.length, 2)
    assert.is(reported(await recordsOf(store, 'a1')).length, 2)
  })

  it('is not in a fork, which knows that nothing is at work', async (context) => {
    const building = gate()
    const one = await live(
      context,
      [],
      builder('none', false, () => building.promise),
    )
    await one.agent.prompt('go').result
    const { agentId } = await forkSession(one.store, 'a1', 'n5', { id: 'f1' })
    const fork = await one.runtime.open(agentId, builder('none', false, quiet))
    await settle(one)
    const settled = await fork.settled()
    assert.equal(settled.status === 'idle' ? settled.reporters : settled.status, [])
    building.resolve()
    await settle(one)
    assert.is(reported(await recordsOf(one.store, 'a1')).length, 2)
    assert.is(reported(await recordsOf(one.store, 'f1')).length, 0)
  })

  it('is told as aborted when the agent was closed', async (context) => {
    const one = await live(
      context,
      [],
      builder('none', false, () => new Promise(() => {})),
    )
    await one.agent.prompt('go').result
    await one.agent.close()
    const again = await one.runtime.open('a1', builder('none', false, quiet))
    await settle(one)
    assert.is(again.state, 'idle')
    assert.is((await again.prompt('and now?').result).text, '2 heard')
    assert.equal(reported(await recordsOf(one.store, 'a1')), ['b1 aborted', 'b2 aborted'])
  })
})
