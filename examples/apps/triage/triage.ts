// Support tickets: a desk answers as data, billing below it pays back what a person approves, and each ticket has a budget.
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, fallback, type Model, type ToolContext } from '../../../src/index.ts'

/** State of the application; tools get it as `deps`. */
export interface Shop {
  readonly prices: ReadonlyMap<string, number>
  readonly refunds: { readonly order: string; readonly euros: number }[]
}

const findOrder = defineTool({
  name: 'find_order',
  description: 'What an order cost, in euros.',
  input: z.object({ order: z.string() }),
  effects: 'none',
  run: ({ order }, { deps }: ToolContext<Shop>) => `${deps.prices.get(order) ?? 'There is no such order.'}`,
})

const payBack = defineTool({
  name: 'pay_back',
  description: 'Pays money back for an order. More than 20 euros need an approval.',
  input: z.object({ order: z.string(), euros: z.number().positive() }),
  needsApproval: ({ euros }) => euros > 20,
  run: ({ order, euros }, { deps }: ToolContext<Shop>) => {
    deps.refunds.push({ order, euros })
    return `${euros} euros are on their way.`
  },
})

const answer = z.object({ category: z.enum(['billing', 'delivery', 'other']), urgent: z.boolean(), reply: z.string() })

const deskOf = (model: Model) =>
  defineAgent({
    name: 'desk',
    instructions: 'Sort the ticket and answer the customer. Leave money to billing.',
    model,
    tools: [findOrder],
    agents: [defineAgent({ name: 'billing', description: 'Pays money back.', model, tools: [findOrder, payBack] })],
    output: answer,
    limits: { costUsd: 0.5, turns: 12 },
  })

/** Sorts and answers one ticket. `models`: asked in this order when one fails. `approve`: whether a refund may be paid. */
export async function triage(
  ticket: string,
  shop: Shop,
  models: readonly Model[],
  approve: (refund: unknown) => Promise<boolean>,
): Promise<z.infer<typeof answer>> {
  const runtime = await createRuntime()
  try {
    const agent = await runtime.spawn(deskOf(fallback(models)), { deps: shop })
    agent.subscribe(async (event) => {
      if (event.type !== 'approval.requested') return
      agent.decide(event.key, (await approve(event.input)) ? 'approve' : 'deny')
    })
    const result = await agent.prompt(ticket).result
    if (result.stopReason === 'stop') return result.output
    throw new Error(`The ticket was not answered: ${result.stopReason}`)
  } finally {
    await runtime.close()
  }
}
