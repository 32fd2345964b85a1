/**
 * A worker of the crash cells: `node workerChild.ts <settings as JSON>` serves the job of `job.ts` and the machine of `payment.ts`, and does not get beyond the place that it is
 * armed for with any agent, until a line on its input lets all go on. Prints `{ port, bridge }`, then `{ at }` for each agent that is there; the end
 * of its input ends it.
 */
import { postgresStore } from '../../../../../src/postgres.ts'
import type { Store } from '../../../../../src/protocol/ports/store.ts'
import { restateDispatch, restateWorker, type RestateWorker } from '../../../../../src/restate.ts'
import { sqliteStore } from '../../../../../src/sqlite.ts'
import { jobOf, type Place } from './job.ts'
import { paymentOf } from './payment.ts'
import { secret, type WorkerSettings } from './workerSettings.ts'

const { where, name, effectsFile, armed, code, retryMs, leaseMs, ingress } = JSON.parse(
  process.argv[2]!,
) as WorkerSettings
const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const times = { ...(retryMs === undefined ? {} : { retryMs }), ...(leaseMs === undefined ? {} : { leaseMs }) }
const store: Store = where.startsWith('postgres:') ? postgresStore(where, times) : sqliteStore(where)
const goOn = Promise.withResolvers<'goes on'>()
let isArmed = armed !== undefined

const reach = async (place: Place, agentId: string, signal: AbortSignal): Promise<void> => {
  if (place !== armed || !isArmed) return
  // Frozen in the middle of a write, it would lock the whole file of SQLite as long as it is frozen.
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  print({ at: place, agentId })
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
  )
  await Promise.race([aborted, goOn.promise])
}

/** Where gateways reach it, if what clients command is to go to an engine. */
async function bridgeOf({ runtime }: RestateWorker): Promise<string | undefined> {
  if (ingress === undefined) return undefined
  const dispatch = await restateDispatch({ ingress, store, name })
  return (await runtime.serve({ definitions: [job], gatewaySecret: secret, dispatch, inspector: false })).url
}

const job = jobOf(effectsFile, reach, code)
const worker = await restateWorker({ definitions: [job], machines: [paymentOf(effectsFile, reach, job)], store, name })
const bridge = await bridgeOf(worker)
const { port } = await worker.listen({ port: 0 })
print({ port, bridge })
// A frozen one that goes on: it says when it has nothing left to do.
process.on('SIGUSR2', () => {
  const look = (): void => {
    if (worker.runtime.agents().every(({ state }) => state === 'idle')) print({ rests: true })
    else setTimeout(look, 20)
  }
  look()
})
process.stdin.on('data', () => {
  isArmed = false
  goOn.resolve('goes on')
})
process.stdin.on('end', () => process.exit())
