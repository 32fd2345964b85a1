import { z } from 'zod'
import type { BrakingOptions } from '../../src/actors/define/brakingOptions.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { startAgent } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { AnthropicCache } from '../support/wireServer/anthropicCache.ts'
import { anthropicWire } from '../support/wireServer/anthropicWire.ts'
import { useWire, whole } from '../support/wireServer/useWire.ts'
import type { WireBlock, WireReply } from '../support/wireServer/wireFamily.ts'
import type { WireScript } from '../support/wireServer/wireServer.ts'

const turns = 100

/** The work of the model in a turn: it looks; sometimes at more places at once than the provider looks back; and now and then it answers. */
function blocksOf(turn: number, chars: number): readonly WireBlock[] {
  if (turn % 20 === 19) return [{ text: [`Done with part ${turn}.`] }]
  const calls = turn % 10 === 4 ? 24 : 1 + (turn % 3)
  const thinking: WireBlock = { thinking: [`On turn ${turn}, I look.`], signature: `s${turn}` }
  return [
    thinking,
    ...Array.from({ length: calls }, (_, n) => ({
      call: `c${turn}_${n}`,
      name: 'look',
      input: [JSON.stringify({ at: `${turn}/${n}`, chars: Math.round(chars / calls) })],
    })),
  ]
}

const look = defineTool({
  name: 'look',
  description: 'Looks at a place.',
  input: z.object({ at: z.string(), chars: z.number() }),
  run: ({ at, chars }) => `At ${at} stands ${`name_${at.replace('/', '_')} `.repeat(Math.ceil(chars / 12))}`,
})

/** A session over the wire of the real package, against the rules of the provider's cache. */
async function session(context: CaseContext, braking: BrakingOptions): Promise<AnthropicCache> {
  const chars = 'fold' in braking ? 1_500 : 500
  const cache = new AnthropicCache()
  const scripts = Array.from({ length: turns }, (_, turn): WireScript => {
    const blocks = blocksOf(turn, chars)
    return (exchange) => {
      const usage = { ...cache.take(exchange.request.body), output: 200 }
      const stop = turn % 20 === 19 ? 'end_turn' : 'tool_use'
      return whole(anthropicWire, { blocks, stop, usage })(exchange)
    }
  })
  const { model } = await useWire(context, anthropicWire, scripts, {})
  const { agent, ofType } = await startAgent(context, {
    model,
    tools: [look],
    instructions: 'You look at places, and say what stands there. '.repeat(120),
    braking,
    check: false,
  })
  for (let part = 0; part < turns / 20; part += 1)
    assert.is((await agent.prompt(`Look at part ${part}.`).result).error, undefined)
  assert.is(cache.marks.length, turns)
  if ('fold' in braking) assert.ok(ofType('prune.applied').length >= 3, `${ofType('prune.applied').length} folds`)
  return cache
}

const folding = {
  fold: { work: 3_000, minBatch: 3_000, keepSteps: 3, indexTokens: 500, cap: 40_000, leastRequests: 0 },
}

describe('a session of 100 turns over the wire, against the rules of Anthropic’s cache', (it) => {
  for (const [title, braking, least] of [
    ['reads all that was sent before', {}, 0.97],
    ['and all that folds leave of it', folding, 0.9],
  ] as const)
    it(title, { timeoutMs: 20_000 }, async (context) => {
      const cache = await session(context, braking)
      assert.ok(cache.marks.every((marks) => marks <= 4))
      assert.ok(cache.share > least, `${cache.share} of the input is read from the cache`)
      assert.ok(cache.cost < 1.002 * cache.ideal, `it costs ${cache.cost}, and could cost ${cache.ideal}`)
      assert.ok(cache.cost < cache.input / 4, `it costs ${cache.cost}, and ${cache.input} without a cache`)
    })
})

describe('a cache that is never read', (it) => {
  const noted = async (context: CaseContext, cacheRead: number, cache?: false): Promise<string[]> => {
    const scripts = Array.from({ length: 6 }, (_, turn): WireReply => {
      const usage = { input: 8_000 + turn, cacheRead: turn === 0 ? 0 : cacheRead, output: 1 }
      return { blocks: [{ text: ['ok'] }], stop: 'end_turn', usage }
    })
    const { model } = await useWire(context, anthropicWire, scripts, {})
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'a', model, ...(cache === undefined ? {} : { cache }) }))
    const said: string[] = []
    agent.subscribe((event) => {
      if (event.type === 'model.warning') said.push(event.message)
    })
    for (let turn = 0; turn < 6; turn += 1) await agent.prompt('go on').result
    return said
  }

  it('is said once, whatever the number of runs', async (context) => {
    const said = await noted(context, 0)
    assert.is(said.length, 1)
    assert.match(said[0]!, /^CACHE_UNUSED: 3 requests in a row .* anthropic:claude-sonnet-4-5/)
  })

  it('is not said of one that is read, nor where nobody asked for it', async (context) => {
    assert.equal(await noted(context, 8_000), [])
    assert.equal(await noted(context, 0, false), [])
  })
})
