/**
 * One process of `tools/bench/cluster.ts`, which tells it by messages what to do and asks what it took:
 * `node tools/bench/scale/seat.ts embedded|worker <database> <schema> [warm]`.
 */
import { createRuntime } from '../../../src/index.ts'
import { postgresStore } from '../../../src/postgres.ts'
import { restateWorker } from '../../../src/restate.ts'
import { benchAgent, forAll } from './benchAgent.ts'

/** Order to the process. */
export interface Order {
  readonly type: 'prompt' | 'usage'
  readonly ids?: readonly string[]
  readonly atOnce?: number
}

/** Answer of the process. */
export interface Answer {
  /** Microseconds of CPU since it began. */
  readonly cpuUs: number
  /** Where the worker listens, in the first answer. */
  readonly url?: string
}

const [how, database, schema, warm] = process.argv.slice(2)
const store = postgresStore(database!, { schema: schema! })
const prompt = how === 'embedded' ? await embedded() : undefined
const url = how === 'worker' ? await worked() : undefined

async function embedded(): Promise<(id: string) => Promise<unknown>> {
  const runtime = await createRuntime({ store })
  return async (id) => {
    const agent = await runtime.open(id, benchAgent)
    const { stopReason } = await agent.prompt('go').result
    if (stopReason !== 'stop') throw new Error(`${id} ended with ${stopReason}`)
  }
}

async function worked(): Promise<string> {
  const worker = await restateWorker({ definitions: [benchAgent], store, warm: Number(warm ?? 2_000) })
  return (await worker.listen({ port: 0 })).url
}

function answer(more: Partial<Answer> = {}): void {
  const { user, system } = process.cpuUsage()
  process.send!({ cpuUs: user + system, ...more } satisfies Answer)
}

process.on('message', (order: Order) => {
  if (order.type === 'usage') answer()
  else void forAll(order.ids!, order.atOnce!, prompt!).then(() => answer())
})
answer(url === undefined ? {} : { url })
