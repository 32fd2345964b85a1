/**
 * A worker of the crash cells: `node workerChild.ts <store> <object> <effects file> [<place>]` serves the job of `job.ts`, and does not get beyond
 * the place with any agent, once each. Prints `{ port }`, then `{ at }` for each agent that is there; a line on its input ends it.
 */
import { postgresStore } from '../../../src/postgres.ts'
import type { Store } from '../../../src/protocol/store.ts'
import { restateWorker } from '../../../src/restate.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
import { jobOf, type Place } from './job.ts'

const [where = '', name = '', effectsFile = '', armed] = process.argv.slice(2)
const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const store: Store = where.startsWith('postgres:') ? postgresStore(where) : sqliteStore(where)

const reach = async (place: Place, agentId: string, signal: AbortSignal): Promise<void> => {
  if (place !== armed) return
  // Frozen in the middle of a write, it would lock the whole file of SQLite as long as it is frozen.
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  print({ at: place, agentId })
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }))
}

const worker = await restateWorker({ definitions: [jobOf(effectsFile, reach)], store, name })
const { port } = await worker.listen({ port: 0 })
print({ port })
// A frozen one that goes on: it says when it has nothing left to do.
process.on('SIGUSR2', () => {
  const look = (): void => {
    if (worker.runtime.agents().every(({ state }) => state === 'idle')) print({ rests: true })
    else setTimeout(look, 20)
  }
  look()
})
process.stdin.on('end', () => process.exit())
process.stdin.resume()
