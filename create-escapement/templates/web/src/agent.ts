import { defineAgent, defineTool, type AnyModel } from 'escapement'
import { z } from 'zod'

/** Pays an order back: put your own system in its place. */
const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  input: z.object({ order: z.string().regex(/^[A-Z]\d+$/) }),
  needsApproval: true,
  run: ({ order }) => `Order ${order} was paid back.`,
})

export const support = (model: AnyModel) =>
  defineAgent({
    name: 'support',
    description: 'Answers customers.',
    model,
    instructions: 'You help customers of a clock maker. Be brief.',
    tools: [refund],
    // A limit in dollars, costUsd, needs the prices of the model: pricing.
    limits: { turns: 20, tokens: 300_000 },
  })
