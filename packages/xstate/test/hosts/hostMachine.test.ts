import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../../../src/log/stores/memoryStore.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import { orderHost } from './orderMachine.ts'

describe('a hosted machine', (it) => {
  it('pays, has its letter written, and is done', async (context) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const keys: string[] = []
    const order = orderHost({ pay: async ({ input, key }) => (keys.push(key), `receipt for ${input.cents}`) })
    const hosted = await hostMachine(runtime, order, { id: 'order-1', input: { cents: 100 } })
    await hosted.send({ type: 'pay' })
    assert.is(hosted.view.value, 'paying')
    const output = await hosted.done
    const types = []
    for await (const record of store.read('order-1')) types.push(record.type)
    console.log(types, output, keys)
  })
})
