import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { startFleet } from './fleet.ts'

describe('a gateway whose client reads an agent', (it) => {
  it('hears it go on elsewhere, though where it was knows nothing of that', { timeoutMs: 20_000 }, async (context) => {
    const coder = defineAgent({ name: 'coder', model: scriptedModel([{ text: 'From elsewhere.' }]) })
    const fleet = await startFleet(context, [coder])
    const client = fleet.connect(await fleet.startGateway())
    const { id } = await client.spawn('coder', { id: 'a1' })
    const reading = client.agent(id).events()
    await client.agent(id).snapshot()
    const elsewhere = fleet.workers.find(({ runtime }) => runtime.agent(id) === undefined)!
    const taken = await elsewhere.runtime.open(id, coder, { takeOver: true })
    const { result } = taken.prompt('Where are you?')
    for await (const { type } of reading) if (type === 'run.end') break
    assert.is((await result).text, 'From elsewhere.')
  })
})
