import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { calls } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { actorOf, begin, ending } from './logicParts.ts'

describe('an actor whose agent hands its conversation over', (it) => {
  it('ends with the answer of whoever answered last, read by the schema of that one', async (context) => {
    const billing = defineAgent({
      name: 'billing',
      model: scriptedModel(['{"invoice":7}']),
      output: z.object({ invoice: z.number() }),
    })
    const triage = defineAgent({
      name: 'triage',
      model: scriptedModel([calls('c', 'transfer_to_billing')]),
      output: z.object({ topic: z.string() }),
      handoffs: [billing],
    })
    const result = await ending(actorOf(await begin(context), triage, { id: 't1', prompt: 'My invoice?' }).start())
    assert.is(result.stopReason, 'stop')
    assert.equal(result.output, { invoice: 7 })
  })
})
