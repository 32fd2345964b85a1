// Many documents: one agent extracts, another reviews. Killed at any moment and started again, it goes on, and asks nothing twice.
import { z } from 'zod'
import { defineAgent, type Model, type Runtime } from '../../../src/index.ts'
import { each } from '../../../src/groups.ts'

const invoice = z.object({ number: z.int(), total: z.number(), currency: z.string() })
const review = z.object({ ok: z.boolean(), note: z.string() })

/** Reviews the documents. `budget` is in dollars, for both agents together, however often it is started. */
export async function reviewAll(runtime: Runtime, model: Model, documents: readonly string[], budget: number) {
  const shared = { model, pricing: { input: 3, output: 15 }, limits: { turns: 3 } }
  const extractor = defineAgent({ ...shared, name: 'extractor', instructions: 'Extract the invoice.', output: invoice })
  const reviewer = defineAgent({ ...shared, name: 'reviewer', instructions: 'Review the data.', output: review })
  const extracting = each(runtime, extractor, documents, { budget: { costUsd: budget } })
  for await (const { done, total, costUsd } of extracting) console.log(`${done} of ${total}, $${costUsd.toFixed(4)}`)
  const extracted = await extracting.result
  const data = extracted.items.filter(({ status }) => status === 'ok')
  const reviewing = each(runtime, reviewer, data, {
    prompt: ({ input, output }) => `${input}\n${JSON.stringify(output)}`,
    key: ({ key }) => key,
    budget: { costUsd: budget - extracted.costUsd },
  })
  return { extracted, reviewed: await reviewing.result }
}
