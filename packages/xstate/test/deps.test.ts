import { createActor, toPromise } from 'xstate'
import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { defineTool, type ToolContext } from '../../../src/actors/tools/defineTool.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { agentLogic } from '../../../src/xstate.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { caller, logOf } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { begin, kept } from './logicParts.ts'

class Shop {
  readonly apiKey = 'sk-very-secret'
  readonly seen: string[] = []
}

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  run: (_, { deps, agent }: ToolContext<Shop>) => {
    deps.seen.push(agent.id)
    return 'looked'
  },
})

const clerk = defineAgent({
  name: 'clerk',
  tools: [look],
  deps: z.instanceof(Shop),
  model: caller(['look']),
})

describe('what an application gives to the tools of an agent below its actor', (it) => {
  it('comes from the options, from a function of the id, or from the input, which goes before', async (context) => {
    const runtime = await begin(context)
    const [all, own, input] = [new Shop(), new Shop(), new Shop()]
    const shops = new Map([['a2', own]])
    await toPromise(
      createActor(agentLogic(runtime, clerk, { deps: all }), { input: { id: 'a1', prompt: 'x' } }).start(),
    )
    const byId = agentLogic(runtime, clerk, { deps: (agentId) => shops.get(agentId) ?? all })
    await toPromise(createActor(byId, { input: { id: 'a2', prompt: 'x' } }).start())
    await toPromise(createActor(byId, { input: { id: 'a3', prompt: 'x', deps: input } }).start())
    assert.equal([all.seen, own.seen, input.seen], [['a1'], ['a2'], ['a3']])
  })

  it('is in no snapshot and no log, and has to be given again to a restored actor by its options', async (context) => {
    const store = memoryStore()
    const runtime = await begin(context, store)
    const shop = new Shop()
    const bare = agentLogic(runtime, clerk)
    const first = createActor(bare, { input: { id: 'a1', prompt: 'x', deps: shop } })
    const snapshot = kept(first)
    assert.not.match(JSON.stringify(snapshot), shop.apiKey)
    const refused = createActor(bare, { snapshot: snapshot as never })
    refused.subscribe({ error: () => {} })
    await assert.rejects(toPromise(refused.start()), withCode('DEPS_MISSING'))
    const again = createActor(agentLogic(runtime, clerk, { deps: shop }), { snapshot: snapshot as never })
    assert.is((await toPromise(again.start())).text, 'done')
    assert.equal(shop.seen, ['a1'])
    assert.not.match(JSON.stringify(await logOf(store, 'a1')), shop.apiKey)
  })

  it('fails its actor when it does not fit, or cannot be made', async (context) => {
    const runtime = await begin(context)
    const wrong = agentLogic(runtime, clerk, { deps: {} as never })
    const broken = agentLogic(runtime, clerk, {
      deps: () => {
        throw new Error('no shop today')
      },
    })
    for (const [logic, isRight] of [
      [wrong, withCode('INVALID_DEPS')],
      [broken, (thrown: unknown) => String(thrown).includes('no shop today')],
    ] as const) {
      const actor = createActor(logic, { input: { id: 'a1', prompt: 'x' } })
      actor.subscribe({ error: () => {} })
      await assert.rejects(toPromise(actor.start()), isRight)
      assert.is(runtime.agent('a1'), undefined)
    }
  })
})
