import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { ModelQueue, type Permit } from '../../packages/runtime/src/limits/modelQueue.ts'
import type { ModelLimits } from '../../packages/runtime/src/limits/modelLimit.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

function sharedQueue(limits: ModelLimits) {
  const clock = simulatedClock()
  const state = { share: 1 }
  const queue = new ModelQueue(limits, clock, () => state.share)
  const begun: Permit[] = []
  const ask = (tokens = 1): void => {
    const { signal } = new AbortController()
    void queue
      .enter({ model: 'p:m', root: 'a', tokens: () => tokens, signal, waits() {} })
      .then((permit) => permit !== undefined && begun.push(permit))
  }
  return { clock, state, begun, ask }
}

describe('limits of models that several processes share', (it) => {
  it('are used up to the part of this process, of which one call is the least', async () => {
    const { state, begun, ask } = sharedQueue({ concurrency: 10 })
    state.share = 1 / 3
    for (let asked = 0; asked < 6; asked += 1) ask()
    await quiet()
    assert.is(begun.length, 3)
    state.share = 1 / 50
    begun[0]!.leave()
    begun[1]!.leave()
    await quiet()
    assert.is(begun.length, 3)
    begun[2]!.leave()
    await quiet()
    assert.is(begun.length, 4)
  })

  it('let a request that is larger than the part of this process begin alone', async () => {
    const { clock, state, begun, ask } = sharedQueue({ tokensPerMinute: 1_000 })
    state.share = 0.1
    ask(60)
    ask(800)
    await quiet()
    assert.is(begun.length, 1)
    await clock.advance(60_000)
    assert.is(begun.length, 2)
  })

  it('are taken in turns by tenants, however many agents one has', async (context) => {
    const order: string[] = []
    const goOn: (() => void)[] = []
    const model = policyModel(async ({ messages }) => {
      order.push(JSON.stringify(messages.at(-1)!.content).includes('flood') ? 'flood' : 'one')
      await new Promise<void>((resolve) => goOn.push(resolve))
      return 'Done.'
    })
    const runtime = await createRuntime({ store: memoryStore(), models: { concurrency: 1 }, modelTurns: 'tenant' })
    context.cleanup(() => runtime.close())
    const definition = defineAgent({ name: 'a', model })
    const ask = async (tenant: string): Promise<void> => {
      const agent = await runtime.spawn(definition, { metadata: { tenant } })
      agent.prompt(tenant)
    }
    for (let agent = 0; agent < 8; agent += 1) await ask('flood')
    while (order.length < 1) await quiet()
    await ask('one')
    await quiet()
    const end = async (): Promise<void> => {
      const before = order.length
      goOn.shift()!()
      while (order.length === before) await quiet()
    }
    await end()
    await end()
    assert.ok(order.includes('one'), order.join())
    for (let left = order.length; left < 9; left += 1) await end()
    goOn.shift()!()
    await quiet()
  })
})
