import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { checkRequest } from '../../../../src/conversation/request/checkRequest.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'
import type { RecordOf } from '../../../../src/protocol/records.ts'
import type { ErasableStore } from '../../../../src/protocol/ports/store.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { goOn, noting, type Written } from './cutLives.ts'

const looks = 44
const fold = { work: 300, minBatch: 300, keepSteps: 2, indexTokens: 100, cap: 20_000, leastRequests: 0 } as const

/** A worker that looks so many times, folding meanwhile, and a boss that calls it. */
function definitions() {
  const requests: ModelRequest[] = []
  const worker = defineAgent({
    name: 'worker',
    description: 'works',
    tools: [tool('look', ({ at }) => `seen${String(at)}Thing\n${'word '.repeat(240)}`, { effects: 'none' })],
    model: policyModel((request) => {
      requests.push(request)
      const last = request.messages.findLast(({ role }) => role === 'toolResult')
      const at = last === undefined ? 1 : 1 + Number(/^seen(\d+)Thing/.exec(textOf(last.content))?.[1])
      return at > looks ? `looked ${at - 1} times` : { toolCalls: [{ name: 'look', input: { at } }] }
    }),
    braking: { fold },
    compaction: false,
    checkRequests: true,
  })
  const boss = defineAgent({
    name: 'boss',
    agents: [worker],
    model: policyModel(({ messages }) => {
      const result = messages.find(({ role }) => role === 'toolResult')
      return result === undefined
        ? { toolCalls: [{ name: 'worker', input: { task: 'look' } }] }
        : textOf(result.content)
    }),
  })
  return { boss, requests }
}

const isFold = ({ record }: Written): boolean => record.type === 'prune.applied'

const foldsOf = async (store: ErasableStore): Promise<(readonly number[])[]> => {
  const folds: RecordOf<'prune.applied'>[] = []
  for await (const record of store.read('b.1')) if (record.type === 'prune.applied') folds.push(record)
  return folds.map(({ steps }) => steps)
}

const shown = ({ messages }: ModelRequest): string => JSON.stringify(messages).replaceAll(/call_\d+/g, 'call')

describe('a sub-agent that folds, behind a bridge', (it) => {
  it(
    'after a crash around each of its folds folds the same, as a client sees it',
    { timeoutMs: 20_000 },
    async (context) => {
      const { store, written } = noting()
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      const whole = definitions()
      const agent = await runtime.spawn(whole.boss, { id: 'b' })
      assert.is((await agent.prompt('go').result).text, `looked ${looks} times`)
      const told = new Set(whole.requests.map(shown))
      const folds = await foldsOf(store)
      assert.ok(folds.length >= 2, `${folds.length} folds`)
      const places = written.flatMap((each, at) => (isFold(each) && each.agentId === 'b.1' ? [at] : []))
      for (const cut of places.flatMap((at) => [at - 1, at, at + 1])) {
        const { boss, requests } = definitions()
        const again = await goOn(context, boss, written.slice(0, cut))
        const where = `cut after ${cut} records`
        assert.equal([again.stopReason, again.text], ['stop', `looked ${looks} times`], where)
        assert.ok(requests.length > 0, where)
        for (const request of requests) {
          assert.ok(told.has(shown(request)), where)
          assert.equal(checkRequest(request), [], where)
        }
        assert.equal(await foldsOf(again.store), folds, where)
        // The client is told of the folds of this life, and can read all that is hidden.
        const hidden = new Set(folds.flat())
        const { nodes } = await again.child.conversation('log')
        for (const id of hidden)
          assert.ok(
            nodes.some((node) => node.id === id),
            where,
          )
        const events = again.heard.events.filter(({ type }) => type === 'prune.applied')
        const before = written.slice(0, cut).filter(isFold).length
        assert.is(events.length, folds.length - before, where)
      }
    },
  )
})
