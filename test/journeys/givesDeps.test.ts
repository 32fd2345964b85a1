import { z } from 'zod'
import type { SubAgentEntry } from '../../src/actors/define/subAgents.ts'
import { type AgentOptions, createRuntime, defineAgent, defineTool, type ToolContext } from '../../src/index.ts'
import { parallel, pipeline } from '../../src/groups.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

/** A class instance: copying it would lose what it holds. */
class Shop {
  readonly name: string
  #sold = 0

  constructor(name: string) {
    this.name = name
  }

  sell(): string {
    this.#sold += 1
    return `${this.name} sold ${this.#sold}`
  }
}

const sell = defineTool({
  name: 'sell',
  description: 'Sell one.',
  input: z.object({}),
  effects: 'idempotent',
  run: (_, { deps }: ToolContext<Shop>) => deps.sell(),
})

const selling = calls('c', 'sell')
const done: ScriptedReply = { text: 'done' }

const sellerOf = (replies: readonly ScriptedReply[], options: Partial<AgentOptions<undefined, Shop>> = {}) =>
  defineAgent({ name: 'seller', model: scriptedModel(replies), tools: [sell], deps: z.instanceof(Shop), ...options })

/** Results of the tools of an agent, in order. */
const said = (agent: { readonly conversation: { trunk(): readonly { readonly message: object }[] } }): string[] =>
  agent.conversation
    .trunk()
    .map(({ message }) => message as { readonly role: string; readonly content: readonly { readonly text?: string }[] })
    .flatMap(({ role, content }) => (role === 'toolResult' ? [content[0]?.text ?? ''] : []))

describe('deps', (it) => {
  it('reach the tools of every run: those of the agent, or of the prompt', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const [own, other] = [new Shop('own'), new Shop('other')]
    const agent = await runtime.spawn(sellerOf([selling, done, selling, done, selling, done]), { deps: own })
    await agent.prompt('one').result
    await agent.prompt('two', { deps: other }).result
    await agent.prompt('three').result
    assert.equal(said(agent), ['own sold 1', 'other sold 1', 'own sold 2'])
  })

  it('of a prompt that waits are there when its run begins', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(sellerOf([selling, done, selling, done]))
    const [first, second] = [new Shop('first'), new Shop('second')]
    const runs = [agent.prompt('one', { deps: first }), agent.prompt('two', { deps: second })]
    for (const run of runs) await run.result
    assert.equal(said(agent), ['first sold 1', 'second sold 1'])
  })

  it('that are missing or wrong are told at once, and nothing has happened', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const seller = sellerOf([selling, done])
    // @ts-expect-error it is no shop
    const wrong = runtime.spawn(seller, { id: 'a', deps: { name: 'x' } })
    await assert.rejects(wrong, withCode('INVALID_DEPS', 'spawn', 'Shop'))
    const agent = await runtime.spawn(seller, { id: 'a' })
    // @ts-expect-error it needs a shop
    assert.throws(() => agent.prompt('go'), withCode('DEPS_MISSING', '"seller"'))
    // @ts-expect-error it is no shop
    assert.throws(() => agent.prompt('go', { deps: 7 }), withCode('INVALID_DEPS'))
    assert.throws(() => agent.steer('go'), withCode('DEPS_MISSING'))
    assert.throws(() => agent.followUp('go'), withCode('DEPS_MISSING'))
    assert.is(agent.lastSeq, 1)
    const shop = new Shop('at last')
    assert.is((await agent.prompt('go', { deps: shop }).result).stopReason, 'stop')
    assert.equal(said(agent), ['at last sold 1'])
  })

  it('are not checked, and may be missing, without a schema', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const seen: unknown[] = []
    const look = defineTool({
      name: 'sell',
      description: 'Look.',
      input: z.object({}),
      run: (_, { deps }) => void seen.push(deps),
    })
    const agent = await runtime.spawn(
      defineAgent({ name: 'looker', model: scriptedModel([selling, done, selling, done]), tools: [look] }),
    )
    await agent.prompt('one').result
    await agent.prompt('two', { deps: 'anything' }).result
    assert.equal(seen, [undefined, 'anything'])
  })

  it('stay with a run that is paused, and end with one that ends', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(sellerOf([selling, selling, done]))
    const shop = new Shop('shop')
    const { stopReason } = await agent.prompt('go', { deps: shop, limits: { turns: 1 } }).result
    assert.is(stopReason, 'paused')
    await agent.resume({ limits: { turns: 5 } }).result
    assert.equal(said(agent), ['shop sold 1', 'shop sold 2'])
    assert.throws(() => agent.steer('more'), withCode('DEPS_MISSING'))
  })

  it('are those of the last open, from the next run on', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const seller = sellerOf([selling, done, selling, done])
    const agent = await runtime.open('a', seller, { deps: new Shop('old') })
    await agent.prompt('one').result
    const again = await runtime.open('a', seller, { deps: new Shop('new') })
    assert.is(again, agent)
    // @ts-expect-error it is no shop
    await assert.rejects(runtime.open('a', seller, { deps: 7 }), withCode('INVALID_DEPS'))
    await agent.prompt('two').result
    assert.equal(said(agent), ['old sold 1', 'new sold 1'])
  })

  it('outlast the unloading of an idle agent', async (context) => {
    const runtime = await createRuntime({ idleUnloadMs: 1 })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(sellerOf([selling, done, selling, done, selling, done]), {
      deps: new Shop('own'),
    })
    await agent.prompt('one').result
    while (agent.isLoaded) await new Promise((resolve) => setTimeout(resolve, 1))
    const other = new Shop('other')
    await agent.prompt('two', { deps: other }).result
    await agent.prompt('three').result
    await agent.wake()
    assert.equal(said(agent), ['own sold 1', 'other sold 1', 'own sold 2'])
  })
})

describe('deps of sub-agents', (it) => {
  const leadOf = (entry: SubAgentEntry, replies: readonly ScriptedReply[]) =>
    defineAgent({ name: 'lead', model: scriptedModel(replies), agents: [entry] })
  const asking = (): ScriptedReply => ({ toolCalls: [{ name: 'seller', input: { task: 'sell' }, callId: 'c0' }] })

  it('are those of the run that calls them', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const shop = new Shop('shop')
    const answer = async (replies: readonly ScriptedReply[]) => {
      const lead = await runtime.spawn(leadOf(sellerOf(replies), [asking(), done]))
      await lead.prompt('go', { deps: shop }).result
      return said(lead)
    }
    assert.equal(await answer([selling, { text: 'sold' }]), ['sold'])
    assert.is(shop.sell(), 'shop sold 2')
  })

  it('are what their entry makes of those', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const mall = { shops: [new Shop('first'), new Shop('second')] as const }
    const entry = { definition: sellerOf([selling, { text: 'sold' }]), deps: (from: typeof mall) => from.shops[1] }
    const lead = await runtime.spawn(leadOf(entry, [asking(), done]), { deps: mall })
    await lead.prompt('go').result
    assert.equal(
      mall.shops.map((shop) => shop.sell()),
      ['first sold 1', 'second sold 2'],
    )
  })

  const broken: readonly (readonly [string, (from: unknown) => unknown, RegExp])[] = [
    [
      'throws',
      () => {
        throw new Error('the shop is closed')
      },
      /could not be made: the shop is closed/,
    ],
    ['returns nothing', () => undefined, /needs deps, and has none/],
    ['returns something else', () => ({ name: 'x' }), /do not fit those of agent "seller"/],
    ['returns a promise', () => Promise.reject(new Error('late')), /a promise, which is not waited for/],
  ]
  for (const [what, deps, expected] of broken)
    it(`answer the call with an error when their entry ${what}`, async (context) => {
      const runtime = await createRuntime()
      context.cleanup(() => runtime.close())
      const lead = await runtime.spawn(leadOf({ definition: sellerOf([]), deps }, [asking(), done]), {
        deps: new Shop('x'),
      })
      assert.is((await lead.prompt('go').result).stopReason, 'stop')
      assert.match(said(lead)[0]!, expected)
    })

  it('are those of the parent, or given, for one that code spawns', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const lead = await runtime.spawn(leadOf(sellerOf([]), []), { deps: new Shop('of the parent') })
    const heir = await lead.spawn(sellerOf([selling, done]))
    await heir.prompt('go').result
    assert.equal(said(heir), ['of the parent sold 1'])
    const given = await lead.spawn(sellerOf([selling, done, selling, done]), { deps: new Shop('given') })
    await given.prompt('go').result
    await given.prompt('go', { deps: new Shop('by the prompt') }).result
    assert.equal(said(given), ['given sold 1', 'by the prompt sold 1'])
    // @ts-expect-error it is no shop
    await assert.rejects(lead.spawn(sellerOf([]), { deps: 7 }), withCode('INVALID_DEPS'))
  })
})

describe('deps of a group', (it) => {
  it('reach each of its agents, and the last one of a pipeline answers with its data', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const shop = new Shop('shop')
    const answering = defineAgent({
      name: 'answering',
      model: scriptedModel([selling, { text: '7' }]),
      tools: [sell],
      deps: z.instanceof(Shop),
      output: z.number(),
    })
    const line = await pipeline(runtime, [sellerOf([selling, { text: 'sold' }]), answering], 'go', { deps: shop })
    assert.is(line.output, 7)
    assert.is(shop.sell(), 'shop sold 3')
    const { branches } = await parallel(runtime, [sellerOf([selling, done]), sellerOf([selling, done])], 'go', {
      deps: shop,
    })
    assert.equal(
      branches.map(({ result }) => result.stopReason),
      ['stop', 'stop'],
    )
    assert.is(shop.sell(), 'shop sold 6')
    await assert.rejects(parallel(runtime, [sellerOf([])], 'go'), withCode('DEPS_MISSING'))
  })
})
