import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { decide } from '../../../policies/src/decide.ts'
import { keep } from '../../../policies/src/keep.ts'
import { policy } from '../../../../src/actors/define/policy.ts'
import { when } from '../../../policies/src/when.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { ErasableStore } from '../../../../src/protocol/ports/store.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { unansweredIn, unendedIn } from '../../../../test/crash/jobOutcome.ts'
import { goOn, noting, type Written } from './cutLives.ts'

const looks = 20

/** A worker that looks so many times while a reviewer tidies up after it, and a boss that calls it. */
function bossOf() {
  const reviewer = defineAgent({
    name: 'reviewer',
    model: policyModel(({ messages }) => /n\d+/.exec(textOf(messages[0]!.content))?.[0] ?? 'none'),
  })
  const worker = defineAgent({
    name: 'worker',
    description: 'works',
    tools: [tool('look', ({ at }) => `seen${String(at)}Thing\n${'word '.repeat(60)}`, { effects: 'none' })],
    model: policyModel((request) => {
      const last = request.messages.findLast(({ role }) => role === 'toolResult')
      const at = last === undefined ? 1 : 1 + Number(/^seen(\d+)Thing/.exec(textOf(last.content))?.[1])
      return at > looks ? `looked ${at - 1} times` : { toolCalls: [{ name: 'look', input: { at } }] }
    }),
    braking: {
      policies: [
        policy({
          name: 'reviewed',
          when: when.everyTurns(5),
          decide: {
            name: 'one',
            async decide(at) {
              const oldest = at.steps.find(({ fixed }) => fixed === undefined)
              return oldest === undefined ? null : { hide: [(await at.run(reviewer, `hide ${oldest.id}?`)).text] }
            },
          },
        }),
        policy({
          name: 'masked',
          when: when.everyTurns(7),
          decide: decide.oldest({ keepSteps: 3 }),
          keep: keep.masked(),
        }),
      ],
    },
    compaction: false,
    checkRequests: true,
  })
  return defineAgent({
    name: 'boss',
    agents: [worker],
    model: policyModel(({ messages }) => {
      const result = messages.find(({ role }) => role === 'toolResult')
      return result === undefined
        ? { toolCalls: [{ name: 'worker', input: { task: 'look' } }] }
        : textOf(result.content)
    }),
  })
}

const readAll = async (store: ErasableStore) => {
  const records = []
  for await (const record of store.read('b.1')) records.push(record)
  return records
}

const ofPolicy = ({ agentId, record }: Written): boolean =>
  agentId === 'b.1' && (record.type.startsWith('policy.') || record.type.startsWith('prune.'))

describe('a sub-agent with policies, behind a bridge', (it) => {
  it(
    'after a crash around each of their records comes to the same end, and each of them to one',
    { timeoutMs: 60_000 },
    async (context) => {
      const { store, written } = noting()
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      const agent = await runtime.spawn(bossOf(), { id: 'b' })
      assert.is((await agent.prompt('go').result).text, `looked ${looks} times`)
      const places = written.flatMap((each, at) => (ofPolicy(each) ? [at + 1] : []))
      const kinds = new Set(places.map((at) => written[at - 1]!.record.type))
      assert.equal([...kinds].toSorted(), ['policy.end', 'policy.start', 'prune.applied', 'prune.requested'])
      for (const cut of places) {
        const again = await goOn(context, bossOf(), written.slice(0, cut))
        const where = `cut after ${cut} records, the last a ${written[cut - 1]!.record.type}`
        assert.equal([again.stopReason, again.text], ['stop', `looked ${looks} times`], where)
        const records = await readAll(again.store)
        assert.equal([...unansweredIn(records), ...unendedIn(records)], [], where)
        assert.ok(
          records.some((record) => record.type === 'prune.applied' && record.applied),
          where,
        )
        assert.not.ok(
          (await again.store.list()).some((id) => id.startsWith('reviewer')),
          where,
        )
      }
    },
  )
})
