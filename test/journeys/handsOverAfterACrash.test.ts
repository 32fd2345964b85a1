import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { counter, quiet, tool, usageOf, withCode } from '../support/agentHarness.ts'
import { checkLog } from '../support/journeyRules.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { cutStore, recordsOf } from './cutLogs.ts'

const usage = usageOf(10, 2)
const look = (name: string) => tool(name, () => `${name} saw it`, { effects: 'none' })

const billing = defineAgent({
  name: 'billing',
  instructions: 'You are billing.',
  tools: [look('ledger')],
  model: policyModel(({ messages, system }) => {
    const last = textOf(messages.at(-1)!.content)
    return last === 'ledger saw it'
      ? { text: `${system} ${last}`, usage }
      : { toolCalls: [{ name: 'ledger', input: {} }], usage }
  }),
})

const triage = defineAgent({
  name: 'triage',
  tools: [look('desk')],
  handoffs: [billing],
  model: policyModel(() => ({
    toolCalls: ['transfer_to_billing', 'desk'].map((name) => ({ name, input: {} })),
    usage,
  })),
})

const answer = 'You are billing. ledger saw it'

async function live({ cleanup }: Pick<CaseContext, 'cleanup'>, records: readonly LogRecord[]) {
  const store = await cutStore('t1', records)
  const runtime = await createRuntime({ store, clock: simulatedClock(), newId: counter('q') })
  cleanup(() => runtime.close())
  return { runtime, store, agent: await runtime.open('t1', triage) }
}

async function wholeLife(): Promise<LogRecord[]> {
  const store = memoryStore()
  const runtime = await createRuntime({ store, clock: simulatedClock(), newId: counter('q') })
  const agent = await runtime.spawn(triage, { id: 't1' })
  assert.is((await agent.prompt('go').result).text, answer)
  await runtime.close()
  return recordsOf(store, 't1')
}

const whole = await wholeLife()
const handed = whole.findIndex((record) => record.type === 'tool.end' && record.handoff !== undefined)

describe('a conversation that was handed over', (it) => {
  for (let left = whole.findIndex(({ type }) => type === 'message.added') + 1; left <= whole.length; left += 1)
    it(`goes on with whom it was handed to, after a crash at record ${left}, ${whole[left - 1]!.type}`, async (context) => {
      const { agent, store } = await live(context, whole.slice(0, left))
      while (agent.state !== 'idle') await quiet()
      assert.equal([agent.active, agent.definition], ['billing', 'triage'])
      assert.is(textOf(agent.conversation.trunk().at(-1)!.message.content), answer)
      const records = await recordsOf(store, 't1')
      assert.equal(checkLog(records, { isWhole: false }), [])
      assert.is(records.filter((record) => record.type === 'tool.end' && record.handoff !== undefined).length, 1)
      assert.is((await agent.prompt('again').result).text, answer)
    })

  it('stays with whom it was handed to when its step had ended, and not before', async (context) => {
    const sealed = Math.max(
      handed,
      whole.findIndex((record) => record.type === 'tool.end' && record.name === 'desk'),
    )
    for (const [left, active] of [
      [handed, 'triage'],
      [sealed, 'triage'],
      [sealed + 1, 'billing'],
    ] as const) {
      const store = await cutStore('t1', whole.slice(0, left))
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      const agent = await runtime.resume('t1', triage, { continue: false })
      assert.is(agent.active, active)
    }
  })

  it('uses what its definition says, whatever the one before was told to use', async (context) => {
    const store = memoryStore()
    const first = await createRuntime({ store, clock: simulatedClock(), newId: counter('q') })
    const agent = await first.spawn(triage, { id: 't1' })
    agent.use({ tools: ['transfer_to_billing', 'desk'], instructions: 'Be quick.' })
    assert.is((await agent.prompt('go').result).text, answer)
    await first.close()
    const records = await recordsOf(store, 't1')
    const sealed = records.findLastIndex((record) => record.type === 'tool.end' && record.name !== 'ledger')
    for (let left = sealed; left <= records.length; left += 1) {
      const next = await live(context, records.slice(0, left))
      while (next.agent.state !== 'idle') await quiet()
      assert.is(textOf(next.agent.conversation.trunk().at(-1)!.message.content), answer)
      assert.is(next.agent.inUse, null)
      await next.runtime.close()
    }
  })

  it('is known to a fork, and after the agent was unloaded', async (context) => {
    const { store, runtime } = await live(context, whole)
    await forkSession(store, 't1', 'n4', { id: 't2' })
    const fork = await runtime.resume('t2', triage)
    assert.equal([fork.active, (await fork.prompt('again').result).text], ['billing', answer])

    const clock = simulatedClock()
    const idle = await createRuntime({ clock, idleUnloadMs: 10 })
    context.cleanup(() => idle.close())
    const agent = await idle.spawn(triage, { id: 't3' })
    await agent.prompt('go').result
    while (agent.isLoaded) await clock.advance(20)
    assert.equal([agent.active, agent.definition], ['billing', 'triage'])
    assert.equal([(await agent.prompt('again').result).text, agent.active], [answer, 'billing'])
  })

  it('cannot be resumed with a definition that does not lead there', async (context) => {
    const store = await cutStore('t1', whole)
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const model = scriptedModel([])
    const other = defineAgent({ name: 'triage', model, handoffs: [defineAgent({ name: 'support', model })] })
    await assert.rejects(runtime.resume('t1', other), withCode('INVALID_DEFINITION', 'billing', 'do not lead to'))
    const none = defineAgent({ name: 'triage', model })
    await assert.rejects(runtime.resume('t1', none), withCode('INVALID_DEFINITION', 'billing'))
  })
})
