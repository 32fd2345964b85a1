import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { restateClient, restateWorker, type RestateClient, type RestateWorker } from '../../../../src/restate.ts'
import type { RestateClientOptions } from '../../src/restate/restateClient.ts'
import type { RestateWorkerOptions } from '../../src/restate/restateWorker.ts'
import { sqliteStore } from '../../../../src/sqlite.ts'
import { fullOnly } from '../../../../test/support/fullOnly.ts'
import { assert, describe, isCi, type CaseContext, type CaseOptions } from '../../../../test/support/suite.ts'
import { Engine } from './engine.ts'
import { findRestate, howToInstall } from './installRestate.ts'

/** Context of a case with an engine. */
export interface EngineContext extends CaseContext {
  /** The engine, which other cases of the process use too: one that ends it begins it again. */
  readonly engine: Engine
  /** The name of the virtual object in this case. */
  readonly name: string
  /** A file for logs that several processes may share. */
  readonly file: string
  /** Another store on that file, as another process would have it. */
  store(): Store
  /** A worker with its own store on that file, registered with the engine. */
  worker(definitions: readonly AgentDefinition[], options?: Partial<RestateWorkerOptions>): Promise<RestateWorker>
  /** A client with its own store on that file. */
  client(options?: Partial<RestateClientOptions>): Promise<RestateClient>
  /** Posts to a handler of the agent's object, and gives what came of it. */
  post(agentId: string, handler: string, body?: object): Promise<Posted>
}

export interface Posted {
  readonly status: number
  readonly body: { readonly [field: string]: unknown }
}

/** Registers a case. Default deadline: 20 s, as an engine may have to be started. */
export interface EngineIt {
  (title: string, body: EngineBody): void
  (title: string, options: CaseOptions, body: EngineBody): void
}
type EngineBody = (context: EngineContext) => unknown

let started: Promise<Engine> | undefined

/** The engine of this process, which it starts at first use. */
function sharedEngine(): Promise<Engine> {
  started ??= Engine.start()
  started.catch(() => (started = undefined))
  return started
}

/**
 * A group of cases with a real Restate engine: one for the process, an object of its own for each case. Where there is none the cases are
 * skipped and say how to have it; where `CI` is set they fail. `npm test` fetches it first where that was asked for.
 */
export function describeWithEngine(title: string, register: (it: EngineIt) => void): void {
  fullOnly('the Restate server')
  describe(title, (it) => {
    const has = findRestate() !== undefined
    const missing = `there is no Restate server; ${howToInstall}`
    register((name: string, ...rest: [EngineBody] | [CaseOptions, EngineBody]) => {
      const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
      if (!has) return isCi() ? it(name, () => assert.unreachable(missing)) : it.skip(`${name} (skipped: ${missing})`)
      it(name, { timeoutMs: 20_000, ...options }, async (context) => body(await contextOf(context)))
    })
  })
}

async function contextOf(context: CaseContext): Promise<EngineContext> {
  const { cleanup } = context
  const engine = await sharedEngine()
  const dir = await mkdtemp(join(tmpdir(), 'escapement-worker-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'agents.db')
  const name = `agent_${randomUUID().replaceAll('-', '')}`
  const store = (): Store => {
    const made = sqliteStore(file)
    cleanup(() => made.close())
    return made
  }
  return {
    ...context,
    engine,
    name,
    file,
    store,
    async worker(definitions, options = {}) {
      const worker = await restateWorker({ definitions, store: sqliteStore(file), name, ...options })
      cleanup(() => worker.close())
      await engine.register((await worker.listen({ port: 0 })).url)
      return worker
    },
    async client(options = {}) {
      const client = await restateClient({ ingress: engine.ingress, store: store(), name, pollMs: 20, ...options })
      cleanup(() => client.close())
      return client
    },
    post: (agentId, handler, body) => post(`${engine.ingress}/${name}/${agentId}/${handler}`, body),
  }
}

async function post(url: string, body: object | undefined): Promise<Posted> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body ?? {}) })
  return { status: response.status, body: (await response.json()) as Posted['body'] }
}
