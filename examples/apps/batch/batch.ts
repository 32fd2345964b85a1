// Many texts at once: two agents answer each, a judge chooses, so many calls run at a time, and spans tell what each cost.
import { z } from 'zod'
import { createRuntime, defineAgent, parallel, type Model, type Tracer } from '../../../src/index.ts'

const label = z.object({ mood: z.enum(['glad', 'angry', 'calm']), why: z.string() })

const readerOf = (name: string, model: Model) =>
  defineAgent({ name, model, output: label, limits: { turns: 3 }, instructions: 'Label the review.' })

/** Labels texts, in their order; one that nobody could label is `null`. */
export async function labelAll(
  texts: readonly string[],
  models: { readonly cheap: Model; readonly careful: Model; readonly judge: Model },
  { concurrency = 8, tracer }: { readonly concurrency?: number; readonly tracer?: Tracer } = {},
): Promise<(z.infer<typeof label> | null)[]> {
  const runtime = await createRuntime({ models: { concurrency }, ...(tracer === undefined ? {} : { tracer }) })
  const readers = [readerOf('cheap', models.cheap), readerOf('careful', models.careful)]
  try {
    return await Promise.all(
      texts.map(async (text) => {
        const host = await runtime.spawn(readers[0]!)
        const { winner } = await parallel(host, readers, text, { judge: { model: models.judge } })
        await host.stop()
        return winner?.result.stopReason === 'stop' ? label.parse(winner.result.output) : null
      }),
    )
  } finally {
    await runtime.close()
  }
}
