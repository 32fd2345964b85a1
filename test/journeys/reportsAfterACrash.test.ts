import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { checkLog } from '../support/journeyRules.ts'
import { quiet, tool, usageOf } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

const usage = usageOf(10, 2)

const helper = defineAgent({
  name: 'helper',
  model: policyModel(({ messages }) =>
    messages.length > 1 ? { text: 'four', usage } : { toolCalls: [{ name: 'look', input: {} }], usage },
  ),
  tools: [tool('look', () => 'seen', { effects: 'none' })],
})

/** Calls the helper, then perhaps waits for it, and in the end says how often it has heard of it. */
const callerThat = (waits: boolean) =>
  defineAgent({
    name: 'caller',
    agents: [{ definition: helper, detach: 'report' }],
    model: policyModel(({ messages }) => {
      const texts = messages.map(({ content }) => textOf(content))
      const reports = texts.filter((text) => text.includes('Report of c1.1')).length
      const results = messages.filter(({ role }) => role === 'toolResult').length
      if (results === 0) return { toolCalls: [{ name: 'helper', input: { task: 'look' } }], usage }
      if (waits && results === 1) return { toolCalls: [{ name: 'wait_for', input: {} }], usage }
      return { text: `${reports} heard`, usage }
    }),
  })

type Logs = { readonly [agentId: string]: readonly LogRecord[] }

async function live(context: Pick<CaseContext, 'cleanup'>, logs: Logs, waits: boolean) {
  const { runtime, store } = await runtimeOver(context, logs)
  const caller = await runtime.open('c1', callerThat(waits))
  return { runtime, store, caller }
}

const heard = (records: readonly LogRecord[]): number =>
  records.filter(
    (record) =>
      (record.type === 'message.added' && textOf(record.message.content).includes('Report of c1.1')) ||
      (record.type === 'tool.end' &&
        record.delivers !== undefined &&
        textOf(record.message.content).includes('Report')),
  ).length

/** Until nothing more comes. */
async function settle(runtime: Awaited<ReturnType<typeof live>>['runtime']): Promise<void> {
  for (let idle = 0; idle < 5; idle += 1) {
    await quiet()
    if (runtime.agents().some(({ state }) => state !== 'idle')) idle = 0
  }
}

/** The logs of a life without a crash. */
async function wholeLife(waits: boolean) {
  const { runtime, store, caller } = await live({ cleanup: () => {} }, {}, waits)
  await caller.prompt('go').result
  await settle(runtime)
  await runtime.close()
  return { mine: await recordsOf(store, 'c1'), its: await recordsOf(store, 'c1.1') }
}

for (const waits of [false, true]) {
  const { mine, its } = await wholeLife(waits)
  const indexOf = (type: LogRecord['type']): number =>
    mine.findIndex((record) => record.type === type && (!('name' in record) || record.name === 'helper'))
  const asked = its.findIndex(({ type }) => type === 'message.added')
  // What a caller was told, the log that it was told from holds.
  const least = (left: number): number =>
    left > indexOf('queue.changed') ? its.length : left > indexOf('tool.end') ? asked + 1 : 0

  describe(`a report ${waits ? 'that is waited for' : 'that wakes the caller'} comes once`, (it) => {
    for (let left = indexOf('tool.start') + 1; left <= mine.length; left += 1) {
      const { type } = mine[left - 1]!
      it(`when the caller died after record ${left}, ${type}, and its helper at any`, async (context) => {
        for (let itsLeft = least(left); itsLeft <= its.length; itsLeft += 1) {
          const cut = { c1: mine.slice(0, left), 'c1.1': its.slice(0, itsLeft) }
          const { runtime, store, caller } = await live(context, cut, waits)
          await settle(runtime)
          const records = await recordsOf(store, 'c1')
          const where = `${itsLeft} of ${its.length} records of its helper`
          assert.is(heard(records), 1, where)
          assert.match(textOf(caller.conversation.trunk().at(-1)!.message.content), /1 heard/, where)
          assert.equal(checkLog(records, { isWhole: false }), [], where)
          await runtime.close()
        }
      })
    }
  })
}

describe('a helper that was cut off and cannot go on', (it) => {
  it('is reported with why, and its log is left to others', async (context) => {
    const { mine, its } = await wholeLife(false)
    const left = mine.findIndex((record) => record.type === 'tool.end') + 1
    const foreign = its.slice(0, 2).map((record) => {
      if (record.type !== 'agent.created' || record.parent === undefined) return record
      return { ...record, parent: { ...record.parent, agentId: 'somebody-else' } }
    })
    const { runtime, store, caller } = await live(context, { c1: mine.slice(0, left), 'c1.1': foreign }, false)
    await settle(runtime)
    const said = caller.conversation.trunk().map(({ message }) => textOf(message.content))
    assert.match(said.join('\n'), /did not finish: The log of "c1\.1" is that of another/)
    const lease = await store.open('c1.1')
    assert.is(lease.lastSeq, foreign.length, 'nothing was added to it')
    await lease.release()
  })

  it('does not go on by itself where its caller is to stay paused, and does when that goes on', async (context) => {
    const { mine, its } = await wholeLife(false)
    const left = mine.findIndex((record) => record.type === 'tool.end') + 1
    const logs = { c1: mine.slice(0, left), 'c1.1': its.slice(0, 4) }
    const { runtime, store } = await runtimeOver(context, logs)
    const caller = await runtime.resume('c1', callerThat(false), { continue: false })
    for (let turns = 0; turns < 20; turns += 1) await quiet()
    assert.equal([caller.state, (await recordsOf(store, 'c1.1')).length], ['paused', 4])
    await runtime.detach('c1')
    await runtime.resume('c1', callerThat(false))
    await settle(runtime)
    assert.is(heard(await recordsOf(store, 'c1')), 1)
  })
})
