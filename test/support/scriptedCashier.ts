import { z } from 'zod'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { codeTool } from '../../packages/code/src/codeTool.ts'

const code = `const order = await tools.order({ id: 'o7' })
return await tools.refund({ euros: order.euros }).catch((error) => error.code)`

/** An agent with a script that reads an order and pays 5 euros back, if it may, and answers with what became of that. */
export function scriptedCashier() {
  const paid: number[] = []
  const order = defineTool({
    name: 'order',
    description: 'An order.',
    input: z.object({ id: z.string() }),
    output: z.object({ euros: z.number() }),
    effects: 'none',
    run: () => ({ euros: 5 }),
  })
  const refund = defineTool({
    name: 'refund',
    description: 'Pay back.',
    input: z.object({ euros: z.number() }),
    needsApproval: true,
    run: ({ euros }) => `${paid.push(euros)} paid`,
  })
  const agent = defineAgent({
    name: 'cashier',
    tools: [codeTool([order, refund], { only: true })],
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      return last.role === 'user'
        ? { toolCalls: [{ name: 'run_code', input: { code }, callId: 'c0' }] }
        : textOf(last.content)
    }),
  })
  return { agent, paid }
}
