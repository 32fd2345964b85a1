import { randomUUID } from 'node:crypto'
import { postgresStore } from '../../../../src/postgres.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { restateRuntime, restateWorker } from '../../../../src/restate.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { sqliteStore } from '../../../../src/sqlite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { inMemoryOfProcess, logsIn, openMemory, type Logs } from '../../../../test/contracts/hosts.ts'
import { hostScripts, type HostedAgent, type HostScript } from '../../../../test/contracts/hostScripts.ts'
import { findPostgres, howToInstall } from '../../../postgres/test/installPostgres.ts'
import { sharedServer } from '../../../postgres/test/postgres.ts'
import { assert, describe, isCi } from '../../../../test/support/suite.ts'
import { describeWithEngine, type EngineContext } from './withEngine.ts'

async function placed({ definition, run }: HostScript, context: EngineContext, open: () => Store): Promise<Logs> {
  const { cleanup, engine, name } = context
  const worker = await restateWorker({ definitions: [definition], store: open(), name, clock: simulatedClock() })
  cleanup(() => worker.close())
  await engine.register((await worker.listen({ port: 0 })).url)
  const store = open()
  cleanup(() => store.close())
  const runtime = await restateRuntime({ ingress: engine.ingress, store, name, pollMs: 20 })
  cleanup(() => runtime.close())
  const agent = (await runtime.spawn(definition, { id: 'a' })) as HostedAgent
  await run(agent, async () => agent)
  for (const root of worker.runtime.agents()) await root.settled()
  while ((await engine.invocations(name)).length > 0) await new Promise((resolve) => setImmediate(resolve))
  await worker.close()
  return await logsIn(store)
}

/** Where the logs are, for a worker and a client. */
const places: { readonly [where: string]: (context: EngineContext) => Promise<() => Store> } = {
  'in memory': async () => {
    const store = openMemory()
    return () => store
  },
  // Of one worker: the leases of files cannot be taken.
  'in files':
    async ({ file }) =>
    () =>
      fileStore(`${file}.logs`),
  'on SQLite':
    async ({ file }) =>
    () =>
      sqliteStore(file),
  'on PostgreSQL': async () => {
    const server = await sharedServer()
    const url = server.url(await server.newDatabase())
    const schema = `s_${randomUUID().replaceAll('-', '')}`
    return () => postgresStore(url, { schema })
  },
}
const hasPostgres = findPostgres() !== undefined

describeWithEngine('the logs of agents that an engine places', (it) => {
  for (const [where, opener] of Object.entries(places).filter(([name]) => hasPostgres || !name.endsWith('PostgreSQL')))
    for (const [what, script] of Object.entries(hostScripts))
      it(`that ${what} are those of agents in one process in memory: ${where}`, async (context) => {
        const expected = await inMemoryOfProcess(script(), context)
        assert.ok(JSON.stringify(expected).length > 1000)
        assert.equal(await placed(script(), context, await opener(context)), expected)
      })
})

if (!hasPostgres)
  describe('the logs of agents that an engine places, on PostgreSQL', (it) => {
    const missing = `there is no PostgreSQL; ${howToInstall}`
    if (isCi()) it('are those of agents in one process', () => assert.unreachable(missing))
    else it.skip(`are those of agents in one process (skipped: ${missing})`)
  })
