import { z } from 'zod'
import { connect } from '../../src/client.ts'
import {
  createRuntime,
  defineAgent,
  defineTool,
  memoryStore,
  policyModel,
  type Store,
  type ToolContext,
} from '../../src/index.ts'
import { gate, withCode } from '../support/agentHarness.ts'
import { logOf, until } from '../support/lives.ts'
import { assert, describe } from '../support/suite.ts'

const sentinel = 'sentinel-7f3a'

class Shop {
  readonly address = sentinel
  #secret = sentinel
  sold = 0

  sell(): string {
    this.sold += 1
    return `${this.#secret.length} letters`
  }
}
interface Mall {
  readonly shop: Shop
  readonly address: string
}
const mallOf = (shop: Shop): Mall => ({ shop, address: sentinel })

const caller = (name: string, input: object = {}) =>
  policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult') ? 'done' : { toolCalls: [{ name, input }] },
  )

/** A lead whose sub-agent sells, both with brakes. `during` is waited for by the tool. */
function leadOf(during: Promise<unknown>) {
  const sell = defineTool({
    name: 'sell',
    description: 'Sell one.',
    input: z.object({}),
    effects: 'idempotent',
    run: async (_, { deps, report }: ToolContext<Shop>) => {
      report('selling')
      await during
      return deps.sell()
    },
  })
  const seller = defineAgent({
    name: 'seller',
    model: caller('sell'),
    tools: [sell],
    deps: z.instanceof(Shop),
    braking: { revert: true },
  })
  return defineAgent({
    name: 'lead',
    model: caller('seller', { task: 'sell' }),
    agents: [{ definition: seller, deps: ({ shop }: Mall) => shop }],
    deps: z.object({ shop: z.instanceof(Shop), address: z.string() }),
    braking: { revert: true },
  })
}

/** The store as it is now, as a process that died leaves it. */
async function leftBy(store: Store, ...agentIds: readonly string[]): Promise<Store> {
  const left = memoryStore()
  for (const agentId of agentIds) {
    const lease = await left.open(agentId)
    await left.append(agentId, await logOf(store, agentId))
    await lease.release()
  }
  return left
}

/** Store of a process that died while the sub-agent's tool ran. */
async function deathInATool(cleanup: (close: () => Promise<unknown>) => void): Promise<Store> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  const { promise, resolve } = gate()
  cleanup(async () => {
    resolve()
    await runtime.close()
  })
  const lead = await runtime.spawn(leadOf(promise), {
    id: 'lead',
    deps: mallOf(new Shop()),
    metadata: { user: 'ada' },
  })
  lead.prompt('go')
  await until(lead, ({ type }) => type === 'tool.progress')
  await lead.durable()
  return leftBy(store, 'lead', 'lead.1')
}

describe('deps', (it) => {
  it('are given again by a server after a death, to a sub-agent with brakes, and are in no log, frame or inspection', async (context) => {
    const store = await deathInATool((close) => context.cleanup(close))
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const malls = { ada: mallOf(new Shop()) }
    const asked: unknown[] = []
    const server = await runtime.serve({
      definitions: [leadOf(Promise.resolve())],
      deps: (agent) => {
        asked.push(agent)
        return malls[agent.metadata?.['user'] as 'ada']
      },
    })
    const seen: unknown[] = []
    runtime.onAgent((agent) => {
      agent.inspect((event) => {
        const { actorRef: _, ...said } = event as unknown as { readonly actorRef: unknown }
        seen.push({ ...said, rootId: '', logic: undefined })
      })
    })
    const client = connect(server.url)
    context.cleanup(() => client.close())
    const remote = client.agent('lead')
    const ended = gate()
    let runs = 0
    remote.subscribe(
      (event) => {
        seen.push(event)
        if (event.type === 'run.end' && event.agentId === 'lead' && (runs += 1) > 1) ended.resolve()
      },
      { fromSeq: 1, descendants: true },
    )
    const { stopReason } = await remote.prompt('and again').result
    await ended.promise
    assert.is(stopReason, 'stop')
    assert.ok(malls.ada.shop.sold >= 1)
    assert.equal(asked, [{ id: 'lead', definition: 'lead', metadata: { user: 'ada' } }])
    const logs = [...(await logOf(store, 'lead')), ...(await logOf(store, 'lead.1'))]
    assert.match(JSON.stringify(logs), /13 letters/)
    const cyclic = new WeakSet<object>()
    const written = JSON.stringify([...logs, ...seen, await remote.snapshot()], (_, value: unknown) => {
      if (typeof value !== 'object' || value === null) return value
      if (cyclic.has(value)) return undefined
      cyclic.add(value)
      return value
    })
    assert.match(written, /selling/)
    assert.not.match(written, /sentinel/)
  })

  it('that a server has none of are told to whoever asks, and why stays there', async (context) => {
    const store = await deathInATool((close) => context.cleanup(close))
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const definitions = [leadOf(Promise.resolve())]
    const failing = await runtime.serve({
      definitions,
      deps: () => {
        throw new Error(sentinel)
      },
    })
    const client = connect(failing.url)
    context.cleanup(() => client.close())
    const { stopReason, error } = await client.agent('lead').prompt('go').result
    assert.equal([stopReason, error?.code, error?.message.includes('sentinel')], ['error', 'INVALID_DEPS', false])
    await assert.rejects(client.spawn('lead'), withCode('INVALID_DEPS'))
    const bare = await runtime.serve({ definitions })
    const other = connect(bare.url)
    context.cleanup(() => other.close())
    const refused = await other.agent('lead').prompt('go').result
    assert.is(refused.error?.code, 'DEPS_MISSING')
  })

  it('that are missing when a run would go on stop it, and nothing is lost: it goes on with them', async (context) => {
    const store = await deathInATool((close) => context.cleanup(close))
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const lead = leadOf(Promise.resolve())
    const before = await logOf(store, 'lead')
    await assert.rejects(runtime.resume('lead', lead), withCode('DEPS_MISSING', '"lead"'))
    // @ts-expect-error it is no mall
    await assert.rejects(runtime.resume('lead', lead, { deps: { shop: sentinel } }), withCode('INVALID_DEPS', 'shop'))
    await assert.rejects(runtime.open('lead', lead), withCode('DEPS_MISSING'))
    assert.equal(await logOf(store, 'lead'), before)
    const agent = await runtime.resume('lead', lead, { continue: false })
    assert.is(agent.state, 'paused')
    assert.throws(() => agent.resume(), withCode('DEPS_MISSING'))
    const mall = mallOf(new Shop())
    assert.is((await agent.resume({ deps: mall }).result).stopReason, 'stop')
    assert.is(mall.shop.sold, 1)
  })

  it('are not needed to load an agent that owes nothing', async (context) => {
    const store = memoryStore()
    const first = await createRuntime({ store: { ...store, close: async () => {} } })
    const lead = leadOf(Promise.resolve())
    const agent = await first.spawn(lead, { id: 'lead', deps: mallOf(new Shop()) })
    await agent.prompt('go').result
    await first.close()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const resumed = await runtime.resume('lead', lead)
    assert.is(resumed.state, 'idle')
    const mall = mallOf(new Shop())
    assert.is((await resumed.prompt('again', { deps: mall }).result).stopReason, 'stop')
  })
})
