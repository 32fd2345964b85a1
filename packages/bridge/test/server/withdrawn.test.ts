import { aiSdkChat } from '../../../../src/aiSdk.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { openGate } from '../../../../test/support/gate.ts'
import { nextTurn } from '../../../../test/support/runCase.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { lastingStore, serveAgents } from './bridgeHarness.ts'

const token = 'some-token-0123456789'

/** A server with an agent `a` that works. Reading its log, giving deps and the model's reply can each be held. */
async function held(context: CaseContext) {
  const [reading, giving, replying] = [openGate(), openGate(), openGate()]
  const teller = defineAgent({
    name: 'teller',
    model: policyModel(async () => {
      await replying.pass()
      return 'told'
    }),
  })
  const inner = lastingStore()
  const store: Store = {
    ...inner,
    async *read(agentId, ...range) {
      if (agentId === 'a') await reading.pass()
      yield* inner.read(agentId, ...range)
    },
  }
  const tokens: Record<string, 'admin'> = { [token]: 'admin' }
  const serving = await serveAgents(context, [teller], {
    runtime: { store },
    tokens,
    deps: async () => {
      await giving.pass()
      return {}
    },
    endpoints: [aiSdkChat()],
  })
  context.cleanup(() => [reading, giving, replying].forEach((gate) => gate.open()))
  const agent = await serving.runtime.spawn(teller, { id: 'a' })
  await agent.prompt('go').result
  return {
    ...serving,
    inner,
    agent,
    gates: { reading, giving, replying },
    withdraw: () => void delete tokens[token],
    socket: () => serving.dial({ hello: { token } }),
  }
}

const logs = async (store: Store): Promise<string[]> => (await store.list()).toSorted()

describe('what a client asks for whose token is withdrawn before it is carried out', (it) => {
  it('begins no agent once its deps are there', async (context) => {
    const { socket, gates, withdraw, inner } = await held(context)
    const bare = await socket()
    const reached = gates.giving.shut()
    const asked = bare.ask({ type: 'agent.spawn', definition: 'teller', agentId: 'b' })
    await reached
    withdraw()
    gates.giving.open()
    assert.is(((await asked) as { code?: string }).code, 'BRIDGE_UNAUTHORISED')
    assert.equal(await logs(inner), ['a'])
  })

  for (const [what, frame] of [
    ['begins no fork once the source has been read', { type: 'agent.fork', agentId: 'a', at: 'n1' }],
    ['makes no link once the agent has been found', { type: 'agent.share', agentId: 'a' }],
  ] as const)
    it(what, async (context) => {
      const { socket, gates, withdraw, inner, agent } = await held(context)
      await agent.close()
      const bare = await socket()
      const reached = gates.reading.shut()
      const asked = bare.ask(frame)
      await reached
      withdraw()
      gates.reading.open()
      assert.is(((await asked) as { code?: string }).code, 'BRIDGE_UNAUTHORISED')
      assert.equal(await logs(inner), ['a'])
    })

  it('is not begun behind what was waited for', async (context) => {
    const { socket, gates, withdraw, agent } = await held(context)
    void gates.replying.shut()
    const run = agent.prompt('more')
    const bare = await socket()
    const reached = gates.reading.shut()
    const reads = bare.ask({ type: 'agent.past', agentId: 'a' })
    const aborts = bare.ask({ type: 'agent.abort', agentId: 'a' })
    const lists = bare.ask({ type: 'agent.list' })
    await reached
    withdraw()
    gates.reading.open()
    await reads
    for (const asked of [aborts, lists]) assert.is(((await asked) as { code?: string }).code, 'BRIDGE_UNAUTHORISED')
    gates.replying.open()
    assert.is((await run.result).stopReason, 'stop')
  })

  it('stops no chat once its log has been read', async (context) => {
    const { server, gates, withdraw, agent } = await held(context)
    void gates.replying.shut()
    const run = agent.prompt('more')
    const reached = gates.reading.shut()
    const asked = fetch(`http://127.0.0.1:${server.port}/api/chat/a/stream`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}`, connection: 'close' },
    })
    await reached
    withdraw()
    gates.reading.open()
    assert.is((await asked).status, 401)
    for (let turn = 0; turn < 10; turn += 1) await nextTurn()
    gates.replying.open()
    assert.is((await run.result).stopReason, 'stop')
  })
})
