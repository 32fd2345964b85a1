import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { ClientFrame } from '../../../wire/src/frames.ts'
import type { WaitingAgent } from '../../../../src/protocol/runs/pending.ts'
import { waitingIn } from '../../src/restate/storeFrames.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { asks, caller, until } from '../../../../test/support/lives.ts'
import { approving } from '../../../bridge/test/server/bridgeHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const { boss } = approving()
const payer = defineAgent({ name: 'payer', model: caller(['pay']), tools: [asks('pay')] })

describe('a list of what waits from the store of a client of an engine', (it) => {
  it('has the agents without a parent, with what waits below them, who waited longest first', async ({ cleanup }) => {
    const store = { ...memoryStore(), close: async () => {} }
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close().catch(() => {}))
    for (const [id, definition, user] of [
      ['late', payer, 'anna'],
      ['early', boss, 'ben'],
      ['last', payer, 'ben'],
    ] as const) {
      const agent = await runtime.spawn(definition, { id, metadata: { user } })
      agent.prompt(`For ${user}`)
      await until(agent, ({ type }) => type === 'approval.requested')
      await agent.durable()
    }
    await runtime.spawn(payer, { id: 'idle' })
    await runtime.close({ detach: true })
    const listed = async (more: Partial<Extract<ClientFrame, { type: 'waiting.list' }>> = {}) =>
      (await waitingIn({ store, definitions: new Map() }, { id: '1', type: 'waiting.list', ...more })) as {
        readonly waiting: readonly WaitingAgent[]
        readonly total: number
      }
    const idsOf = ({ waiting }: { readonly waiting: readonly WaitingAgent[] }): string[] =>
      waiting.map(({ agentId }) => agentId)
    const all = await listed()
    assert.equal([idsOf(all), all.total], [['late', 'early', 'last'], 3])
    const [late, early] = all.waiting
    assert.equal(
      [late?.definition, late?.title, late?.metadata, late?.isRunning, late?.pending[0]?.name],
      ['payer', 'For anna', { user: 'anna' }, false, 'pay'],
    )
    assert.is(early?.pending[0]?.agentId, 'early.1')
    const limited = await listed({ limit: 1 })
    assert.equal([idsOf(limited), limited.total], [['late'], 3])
    assert.equal(idsOf(await listed({ metadata: { user: 'ben' } })), ['early', 'last'])
  })
})
