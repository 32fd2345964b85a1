import { defineAgent, defineTool, type AiSdkModel, type Model } from 'escapement'
import { z } from 'zod'

/** Pays an order back: put your own system in its place. */
const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  input: z.object({ order: z.string().regex(/^[A-Z]\d+$/) }),
  needsApproval: true,
  run: ({ order }) => `Order ${order} was paid back.`,
})

export const support = (model: Model | AiSdkModel) =>
  defineAgent({
    name: 'support',
    description: 'Answers customers.',
    model,
    instructions: 'You help customers of a clock maker. Be brief.',
    tools: [refund],
    limits: { turns: 20, costUsd: 0.5 },
  })
