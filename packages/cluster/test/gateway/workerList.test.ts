import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentSummary } from '../../../wire/src/frames.ts'
import type { Client } from '../../../bridge/src/client/client.ts'
import { workerName } from '../../src/gateway/workerNames.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { startFleet, type Fleet, type Worker } from './fleet.ts'

const coder = defineAgent({ name: 'coder', model: scriptedModel([]) })

const nameOf = ({ server }: Worker): string => new URL(server.url).host
const holderOf = ({ workers }: Fleet, id: string): Worker =>
  workers.find(({ runtime }) => runtime.agent(id) !== undefined)!

/** Resolves with what a watcher is told of an agent, once it is what is waited for; `undefined`: it runs nowhere. */
function told(client: Client, id: string, isIt: (agent: AgentSummary) => boolean): Promise<AgentSummary> {
  const { promise, resolve } = Promise.withResolvers<AgentSummary>()
  const unwatch = client.watch(({ agents }) => {
    for (const agent of agents) if (agent.agentId === id && isIt(agent)) resolve(agent)
  })
  return promise.finally(unwatch)
}

describe('the workers of a gateway', (it) => {
  it('are named by where they are reached, with the process that each is', async (context) => {
    const fleet = await startFleet(context, [coder])
    const client = fleet.connect(await fleet.startGateway())
    const workers = await client.workers()
    assert.equal(
      workers.map(({ name }) => name),
      fleet.workers.map(nameOf).toSorted(),
    )
    for (const { words } of workers) assert.match(words!, new RegExp(`process ${process.pid}\\b`))
  })

  it('stand beside the agents that they have, in lists and for watchers, who are told when one moves', async (context) => {
    const fleet = await startFleet(context, [coder])
    const client = fleet.connect(await fleet.startGateway())
    await client.spawn('coder', { id: 'a1' })
    const from = holderOf(fleet, 'a1')
    const { agents } = await client.agents()
    assert.equal(
      agents.map(({ worker }) => worker),
      [nameOf(from)],
    )
    await told(client, 'a1', ({ worker }) => worker === nameOf(from))
    const moved = told(client, 'a1', ({ worker }) => worker !== nameOf(from))
    await from.runtime.detach('a1')
    const to = fleet.workers.find((worker) => worker !== from)!
    await to.runtime.resume('a1', coder)
    assert.is((await moved).worker, nameOf(to))
  })

  it('are told only to who may do everything', async (context) => {
    const fleet = await startFleet(context, [coder])
    const tokens = {
      'a-token-that-may-everything': { role: 'admin' as const },
      'a-token-that-only-looks': { role: 'observe' as const },
      'a-token-of-one-agent-alone': { role: 'admin' as const, agents: ['a1'] },
      'a-token-of-one-tenant-alone': { role: 'admin' as const, metadata: { tenant: 't1' } },
    }
    const gateway = await fleet.startGateway({ tokens })
    const [first, ...others] = Object.keys(tokens).map((token) => fleet.connect(gateway, { token }))
    await first!.spawn('coder', { id: 'a1', metadata: { tenant: 't1' } })
    assert.is((await first!.workers()).length, 2)
    for (const client of others) {
      const refused = await client.workers().catch((thrown: unknown) => thrown)
      assert.is((refused as RuntimeError).code, 'BRIDGE_FORBIDDEN')
      const { agents } = await client.agents()
      assert.equal(
        agents.map(({ agentId, worker }) => [agentId, worker]),
        [['a1', undefined]],
      )
      assert.is((await told(client, 'a1', () => true)).worker, undefined)
    }
  })

  it('are none where the server is no gateway', async (context) => {
    const fleet = await startFleet(context, [coder], 0)
    const token = 'a-token-that-may-everything'
    const { server } = await fleet.startWorker({ tokens: { [token]: 'admin' } })
    assert.equal(await fleet.connect(server, { token }).workers(), [])
  })

  it('have names without the way to them, but for a path of their own', () => {
    assert.is(workerName('ws://127.0.0.1:4100/bridge'), '127.0.0.1:4100')
    assert.is(workerName('wss://me:word@proxy.internal/worker-1/bridge?key=1'), 'proxy.internal/worker-1')
    assert.is(workerName('wss://proxy.internal'), 'proxy.internal')
  })
})
