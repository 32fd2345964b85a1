import { z } from 'zod'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { deferred } from '../../src/actors/parts/deferred/deferred.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { textOf } from '../../src/protocol/messages.ts'

/** An agent that finds `refund`, pays back 5 euros through it, if it may, and answers with what became of that. */
export function deferredCashier() {
  const paid: number[] = []
  const refund = defineTool({
    name: 'refund',
    description: 'Pay back.',
    input: z.object({ euros: z.number() }),
    needsApproval: true,
    run: ({ euros }) => `${paid.push(euros)} paid`,
  })
  const locate = defineTool({ name: 'locate', description: 'Where the user is.', input: z.looseObject({}) })
  const agent = defineAgent({
    name: 'cashier',
    tools: [deferred([refund, locate])],
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      const said = textOf(last.content)
      if (last.role === 'user') return { toolCalls: [{ name: 'find_tools', input: { query: said }, callId: 'c0' }] }
      if (!said.includes('Call one with')) return said
      const call = said.includes('refund')
        ? { name: 'refund', input: { euros: 5 } }
        : { name: 'locate', input: { at: 'noon' } }
      return { toolCalls: [{ name: 'call_tool', input: call, callId: 'c1' }] }
    }),
  })
  return { agent, paid }
}
