import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { Client } from '../../../bridge/src/client/client.ts'
import { connect } from '../../../bridge/src/client/connect.ts'
import type { ConnectOptions } from '../../../bridge/src/client/connectOptions.ts'
import { createRuntime, type Runtime } from '../../../bridge/src/createRuntime.ts'
import { systemClock, type Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { BridgeServer, ServeOptions } from '../../../bridge/src/server/serveOptions.ts'
import type { GatewayOptions } from '../../src/gateway/gatewayOptions.ts'
import { serveGateway } from '../../src/serveGateway.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { dial, type Bare } from '../../../bridge/test/server/bridgeHarness.ts'

export const secret = 'a secret of workers and gateways, long enough'

/** Time that runs so many times as fast: for what is waited for long. */
export function hasty(times: number): Clock {
  const begin = Date.now()
  return {
    now: () => begin + (Date.now() - begin) * times,
    after: (ms, callback) => systemClock.after(ms / times, callback),
  }
}

export interface Worker {
  readonly runtime: Runtime
  readonly server: BridgeServer
}

export interface Fleet {
  /** Another store on the same data. */
  store(): Store
  readonly workers: readonly Worker[]
  /** How workers are served. */
  readonly serving: ServeOptions
  startWorker(options?: ServeOptions): Promise<Worker>
  startGateway(options?: Partial<GatewayOptions>): Promise<BridgeServer>
  /** A client that is closed after the case. */
  connect(server: BridgeServer, options?: ConnectOptions): Client
  dial(server: BridgeServer, hello?: object): Promise<Bare>
}

/** Workers, as of several processes, on one SQLite file, and gateways before them. */
export async function startFleet(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  definitions: readonly AgentDefinition[],
  count = 2,
): Promise<Fleet> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-fleet-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  const store = (): Store => sqliteStore(join(dir, 'agents.db'))
  const workers: Worker[] = []
  const serving: ServeOptions = { definitions, gatewaySecret: secret, limits: { drainMs: 50 } }
  const startWorker = async (options: ServeOptions = {}): Promise<Worker> => {
    const runtime = await createRuntime({ store: store() })
    cleanup(() => runtime.close().catch(() => {}))
    const server = await runtime.serve({ ...serving, ...options })
    const worker = { runtime, server }
    workers.push(worker)
    return worker
  }
  for (let index = 0; index < count; index += 1) await startWorker()
  return {
    store,
    serving,
    workers,
    startWorker,
    async startGateway(options = {}) {
      const directory = store()
      const server = await serveGateway({ directory, secret, limits: { drainMs: 50 }, ...options })
      cleanup(async () => {
        await server.close()
        await directory.close()
      })
      return server
    },
    connect(server, options = {}) {
      const client = connect(server.url, { retry: { baseMs: 1, maxMs: 20 }, ...options })
      cleanup(() => client.close())
      return client
    },
    async dial(server, hello = {}) {
      const bare = await dial(server.url)
      cleanup(() => bare.socket.terminate())
      bare.send({ type: 'hello', ...hello })
      return bare
    },
  }
}
