import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { VirtualObjectDefinition } from '@restatedev/restate-sdk'
import { z } from 'zod'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { createRuntime, type Runtime } from '../../../bridge/src/createRuntime.ts'
import { describeIssues, messageOf, RuntimeError, type ErrorCode } from '../../../../src/protocol/errors.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { RuntimeOptions } from '../../../../src/runtime/runtimeOptions.ts'
import type { ServedDeps } from '../../../bridge/src/server/servedDeps.ts'
import { agentObject } from './agentObject.ts'
import { Definitions } from './definitions.ts'
import { WorkerAgents } from './workerAgents.ts'

/** Options of `restateWorker`; beside these, those of `createRuntime`. */
export interface RestateWorkerOptions extends Omit<RuntimeOptions, 'idleUnloadMs' | 'store'> {
  /** Definitions of its agents. A request names one, unless there is only one. */
  readonly definitions: readonly AgentDefinition[]
  /** Store of the logs, for all workers and clients: its leases must be transferable, as with `postgresStore` or `sqliteStore`. */
  readonly store: Store
  /** Dependencies that agents are given, decided for each agent when it is opened. */
  readonly deps?: ServedDeps
  /** Name of the virtual object. Default `agent`. */
  readonly name?: string
  /** How many agents at rest stay in memory, so that their next command need not read their logs. Default 200. */
  readonly warm?: number
  /** How long an agent may be without a word to the engine while it works, in milliseconds. Default: a day. */
  readonly inactivityMs?: number
  /** How long the engine itself knows a request that it has had, in milliseconds; the log knows it for good. Default: a day. */
  readonly idempotencyMs?: number
  /** Public keys of the engine: requests that are not signed with one are refused. Default: none, and any client that reaches the port may ask. */
  readonly identityKeys?: readonly string[]
}

/** Address of a listening worker. */
export interface ListeningWorker {
  readonly port: number
  /** Address that the engine is given as the deployment. */
  readonly url: string
}

/** Answers requests of the engine, over HTTP/2 or 1.1. */
export interface WorkerHandler {
  (request: IncomingMessage, response: ServerResponse): void
  (request: Http2ServerRequest, response: Http2ServerResponse): void
}

/** A process in which an engine has agents work. Made by `restateWorker`. */
export interface RestateWorker {
  /** Runtime of the worker's agents: `runtime.serve()` lets clients watch those that are here. It spawns and opens none itself. */
  readonly runtime: Runtime
  /** The virtual object, for an endpoint of your own that has other services beside it. */
  readonly service: VirtualObjectDefinition<string, unknown>
  /** Answers the engine on a server of your own. It should speak HTTP/2, or signals reach an agent only between its invocations. */
  readonly handler: WorkerHandler
  /**
   * Listens over HTTP/2 without encryption, on this machine unless `host` says otherwise. `/health` answers health checks of a balancer: 503
   * while its store has been without a connection long enough for others to have its agents (`holds` of `Store`).
   *
   * @throws RuntimeError `BRIDGE_LISTEN_FAILED`, `RUNTIME_CLOSED`
   */
  listen(options?: { readonly port?: number; readonly host?: string }): Promise<ListeningWorker>
  /** Releases all agents without a record, so that other workers continue them, and closes runtime and store. Idempotent. */
  close(): Promise<void>
}

const day = 24 * 60 * 60 * 1_000
const count = z.int().nonnegative()
const ms = z.number().positive()

const optionsSchema = z.object({
  store: z.custom((value) => typeof value === 'object' && value !== null, 'give a store that all workers share'),
  name: z
    .string()
    .regex(/^[A-Za-z]\w*$/, 'use letters, digits and "_", with a letter first')
    .optional(),
  warm: count.optional(),
  inactivityMs: ms.optional(),
  idempotencyMs: ms.optional(),
  deps: z.custom((value) => value === undefined || typeof value === 'function', 'give a function').optional(),
  identityKeys: z.array(z.string()).optional(),
})

/**
 * Makes a worker: the Restate engine has agents work in it, one virtual object for each, and in any other worker of the same store when this
 * one dies. Needs the optional package `@restatedev/restate-sdk`.
 *
 * @throws RuntimeError `PACKAGE_MISSING`, `INVALID_OPTION`, `INVALID_DEFINITION`
 *
 * @example
 * ```ts no-run
 * import { restateWorker } from 'escapement/restate'
 * import { sqliteStore } from 'escapement/sqlite'
 *
 * const worker = await restateWorker({ definitions: [coder], store: sqliteStore('agents.db') })
 * const { url } = await worker.listen({ port: 9080 })
 * // Once: curl localhost:9070/deployments --json '{"uri": "http://localhost:9080"}'
 * ```
 */
export async function restateWorker(options: RestateWorkerOptions): Promise<RestateWorker> {
  const checked = optionsSchema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `restateWorker: ${describeIssues(checked.error)}.`)
  const {
    definitions: list,
    deps,
    name = 'agent',
    warm = 200,
    inactivityMs = day,
    idempotencyMs = day,
    identityKeys,
    ...rest
  } = options
  const definitions = new Definitions(list)
  const sdk = await loadPeer(() => import('@restatedev/restate-sdk'), 'restateWorker', '@restatedev/restate-sdk')
  const { store, logger } = rest
  const isAtRest = (agentId: string): boolean => runtime.agent(agentId)?.state === 'idle'
  const runtime: Runtime = await createRuntime({
    ...rest,
    ...(logger === undefined ? {} : { logger: withoutMoves(logger, isAtRest) }),
  })
  const agents = new WorkerAgents({ runtime, store, definitions, deps, warm, logger, clock: rest.clock ?? systemClock })
  const service = agentObject(sdk, { name, agents, store, times: { inactivityMs, idempotencyMs } })
  const handler = sdk.createEndpointHandler({
    services: [service],
    ...(identityKeys === undefined ? {} : { identityKeys: [...identityKeys] }),
    logger: ({ level, context }, message: unknown) =>
      logger?.debug({ level, agentId: context?.key, invocation: context?.invocationId }, messageOf(message)),
  })
  return new Worker(runtime, service, handler, store)
}

const leaseLost: ErrorCode = 'STORE_LEASE_LOST'

/** Drops messages about agents at rest that another worker has taken: that is how agents move. */
function withoutMoves(logger: Logger, isAtRest: (agentId: string) => boolean): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error(fields, message) {
      const { code, agentId = '' } = fields as { readonly code?: string; readonly agentId?: string }
      if (code !== leaseLost || !isAtRest(agentId)) logger.error(fields, message)
    },
  }
}

class Worker implements RestateWorker {
  readonly runtime: Runtime
  readonly service: VirtualObjectDefinition<string, unknown>
  readonly handler: WorkerHandler
  readonly #store: Store
  readonly #servers = new Set<Listening>()
  #closing: Promise<void> | undefined

  constructor(
    runtime: Runtime,
    service: VirtualObjectDefinition<string, unknown>,
    handler: WorkerHandler,
    store: Store,
  ) {
    this.#store = store
    this.runtime = runtime
    this.service = service
    this.handler = handler
  }

  async listen({
    port = 9080,
    host = '127.0.0.1',
  }: { readonly port?: number; readonly host?: string } = {}): Promise<ListeningWorker> {
    if (this.#isClosed) throw new RuntimeError('RUNTIME_CLOSED', 'The worker is closed.')
    const server = createServer((request, response) => {
      if (request.url === '/health') {
        const isWell = this.#store.holds?.() ?? true
        response.writeHead(isWell ? 200 : 503).end(isWell ? 'ok' : 'no store')
      } else this.handler(request, response)
    })
    const listening = new Listening(server)
    await new Promise<void>((resolve, reject) => {
      server.once('error', (thrown) =>
        reject(new RuntimeError('BRIDGE_LISTEN_FAILED', `restateWorker: ${messageOf(thrown)}.`, { cause: thrown })),
      )
      server.listen(port, host, resolve)
    })
    if (this.#isClosed) {
      listening.takeNoMore()
      await listening.end()
      throw new RuntimeError('RUNTIME_CLOSED', 'The worker was closed while it began to listen.')
    }
    this.#servers.add(listening)
    const bound = server.address() as AddressInfo
    return { port: bound.port, url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}` }
  }

  get #isClosed(): boolean {
    return this.#closing !== undefined
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const server of this.#servers) server.takeNoMore()
    try {
      await this.runtime.close({ detach: true })
    } finally {
      // The engine hears that its attempts are over, and begins them again elsewhere: the agents are free.
      await Promise.all([...this.#servers].map((server) => server.end()))
    }
  }
}

/** A server that the engine connects to, and its connections. */
class Listening {
  readonly #server: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()
  /** A session that is destroyed leaves its own open for as long as the other end likes. */
  readonly #sockets = new Set<Socket>()
  #closed: Promise<void> | undefined

  constructor(server: Http2Server) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
      // An engine that dies is none of our errors: it asks again.
      session.on('error', () => {})
    })
  }

  /** Refuses new requests; current ones continue. */
  takeNoMore(): void {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()))
    for (const session of this.#sessions) session.close()
  }

  /** Breaks off current requests; resolves once nothing is open. */
  async end(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#sockets) socket.destroy()
    await this.#closed
  }
}
