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
import { checkedBy, type ErrorCode, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import { quietClock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { RuntimeOptions } from '../../../runtime/src/runtimeOptions.ts'
import type { ServedDeps } from '../../../bridge/src/server/servedDeps.ts'
import type { WorkerFigures } from '../../../otel/src/metrics/figures.ts'
import { hostingOf, type OfferedMachine } from '../../../xstate/src/hosts/registry.ts'
import { agentObject } from './agentObject.ts'
import { Definitions } from './definitions.ts'
import { TenantQueue, tenantLimitsSchema, type TenantLimits } from './tenantQueue.ts'
import { WorkerAgents } from './workerAgents.ts'
import { WorkerCount } from './workerCount.ts'

/** Options of `restateWorker`, in addition to those of `createRuntime`. */
export interface RestateWorkerOptions extends Omit<
  RuntimeOptions,
  'idleUnloadMs' | 'modelShare' | 'modelTurns' | 'store'
> {
  /** Definitions of the worker's agents. A request names one, unless there is only one. */
  readonly definitions: readonly AgentDefinition[]
  /** Machines that the worker can run, as `defineHost` of `escapement/xstate` returns them. Default: none. */
  readonly machines?: readonly OfferedMachine[]
  /** Store of the logs, for all workers and clients: its leases must be transferable, as with `postgresStore` or `sqliteStore`. */
  readonly store: Store
  /** Dependencies of agents, determined for each agent when it is opened. */
  readonly deps?: ServedDeps
  /** Name of the virtual object. Default `agent`. */
  readonly name?: string
  /** Maximum number of agents at rest in memory, whose next command need not read their logs. Default 200. */
  readonly warm?: number
  /** Maximum time without a message from a working agent to the engine, in milliseconds. Default: a day. */
  readonly inactivityMs?: number
  /** Time for which the engine itself recognizes a repeated request, in milliseconds; the log recognizes it for good. Default: a day. */
  readonly idempotencyMs?: number
  /**
   * Limits of tenants, by a key of their agents' metadata, in all workers together; tenants take turns at models too. `models`
   * also limits all workers together: each has an equal share, by the number of workers that the store knows. Default: none.
   */
  readonly tenants?: TenantLimits
  /** Public keys of the engine: requests that are not signed with one are refused. Default: none, and any client that reaches the port may ask. */
  readonly identityKeys?: readonly string[]
}

/** Address of a listening worker. */
export interface ListeningWorker {
  readonly port: number
  /** Address of the deployment, to register with the engine. */
  readonly url: string
}

/** Answers the engine's requests, over HTTP/2 or 1.1. */
export interface WorkerHandler {
  (request: IncomingMessage, response: ServerResponse): void
  (request: Http2ServerRequest, response: Http2ServerResponse): void
}

/** A process in which an engine runs agents. Made by `restateWorker`. */
export interface RestateWorker {
  /** Runtime of the worker's agents: `runtime.serve()` lets clients watch those that are here. It does not spawn or open agents itself. */
  readonly runtime: Runtime
  /** The virtual object, for an endpoint of your own with further services. */
  readonly service: VirtualObjectDefinition<string, unknown>
  /** Answers the engine on a server of your own. It should speak HTTP/2, or signals reach an agent only between its invocations. */
  readonly handler: WorkerHandler
  /**
   * Listens over HTTP/2 without encryption, on this machine unless `host` says otherwise. `/health` answers health checks of
   * a balancer: 503 while its store has been without a connection long enough for others to have its agents (`holds` of
   * `Store`), 404 once the worker is being closed, when it takes nothing new but may finish its current work.
   *
   * @throws RuntimeError `BRIDGE_LISTEN_FAILED`, `RUNTIME_CLOSED`
   */
  listen(options?: { readonly port?: number; readonly host?: string }): Promise<ListeningWorker>
  /**
   * Releases all agents without a record, so that other workers continue them, and closes runtime and store. With `drainMs` it takes
   * nothing new, but current calls and replies have that many milliseconds to end before. Idempotent; the first call decides.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>
  /** Current figures, for `observeWorker` of `otelMetrics`. */
  figures(): WorkerFigures
}

const day = 24 * 60 * 60 * 1_000
const count = z.int().nonnegative()
const ms = z.number().positive()

const isMachine = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'name' in value && 'open' in value && 'read' in value

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
  machines: z.array(z.custom<OfferedMachine>(isMachine, 'give what defineHost returns')).optional(),
  tenants: tenantLimitsSchema().optional(),
})

/**
 * Makes a worker in which the Restate engine runs agents, with one virtual object for each. When the worker dies, its
 * agents continue in any other worker of the same store. Needs the optional package `@restatedev/restate-sdk`.
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
  checkedBy(optionsSchema, options, 'restateWorker')
  const {
    definitions: list,
    machines = [],
    deps,
    name = 'agent',
    warm = 200,
    inactivityMs = day,
    idempotencyMs = day,
    identityKeys,
    tenants,
    ...rest
  } = options
  const definitions = new Definitions(list, machines)
  const sdk = await loadPeer(() => import('@restatedev/restate-sdk'), 'restateWorker', '@restatedev/restate-sdk')
  const { store, logger } = rest
  const isAtRest = (agentId: string): boolean => runtime.agent(agentId)?.state === 'idle'
  const known = new WorkerCount(store, rest.clock ?? quietClock)
  const workers = (): number => known.count
  const runtime: Runtime = await createRuntime({
    ...rest,
    modelShare: () => 1 / workers(),
    ...(tenants === undefined ? {} : { modelTurns: tenants.by }),
    ...(logger === undefined ? {} : { logger: withoutMoves(logger, isAtRest) }),
  })
  for (const machine of machines) hostingOf(runtime).offered.set(machine.name, machine)
  const queue = tenants === undefined ? undefined : new TenantQueue(tenants, workers)
  const clock = rest.clock ?? systemClock
  const agents = new WorkerAgents({ runtime, store, definitions, deps, warm, logger, clock, tenants: queue })
  const service = agentObject(sdk, { name, agents, times: { inactivityMs, idempotencyMs } })
  const handler = sdk.createEndpointHandler({
    services: [service],
    ...(identityKeys === undefined ? {} : { identityKeys: [...identityKeys] }),
    logger: ({ level, context }, message: unknown) =>
      logger?.debug({ level, agentId: context?.key, invocation: context?.invocationId }, messageOf(message)),
  })
  return new Worker({ runtime, service, handler, store, agents, known })
}

const leaseLost: ErrorCode = 'STORE_LEASE_LOST'

/** Drops log messages about agents at rest that another worker has taken, since agents move that way. */
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

/** Parts of a worker. */
interface WorkerInside extends Pick<RestateWorker, 'runtime' | 'service' | 'handler'> {
  readonly store: Store
  readonly agents: WorkerAgents
  readonly known: WorkerCount
}

class Worker implements RestateWorker {
  readonly runtime: Runtime
  readonly service: VirtualObjectDefinition<string, unknown>
  readonly handler: WorkerHandler
  readonly #store: Store
  readonly #agents: WorkerAgents
  readonly #known: WorkerCount
  readonly #servers = new Set<Listening>()
  #closing: Promise<void> | undefined

  constructor({ runtime, service, handler, store, agents, known }: WorkerInside) {
    this.#store = store
    this.#known = known
    this.#agents = agents
    this.runtime = runtime
    this.service = service
    this.handler = handler
  }

  figures(): WorkerFigures {
    const agents: Record<string, number> = {}
    let loaded = 0
    for (const agent of this.runtime.agents()) {
      const [state = ''] = agent.state.split('.')
      agents[state] = (agents[state] ?? 0) + 1
      if (agent.isLoaded) loaded += 1
    }
    const { openings, seats, queued: queue } = this.#agents
    return {
      agents,
      loaded,
      attempts: seats.size,
      queue,
      openings: { ...openings },
      store: this.#store.figures?.() ?? {},
    }
  }

  async listen({
    port = 9080,
    host = '127.0.0.1',
  }: { readonly port?: number; readonly host?: string } = {}): Promise<ListeningWorker> {
    if (this.#isClosed) throw new RuntimeError('RUNTIME_CLOSED', 'The worker is closed.')
    const server = createServer((request, response) => {
      if (request.url === '/health') {
        const { status, text } = this.#health()
        response.writeHead(status).end(text)
      } else if (this.#isClosed) response.writeHead(503).end('leaving')
      else this.handler(request, response)
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

  #health(): { readonly status: number; readonly text: string } {
    if (!(this.#store.holds?.() ?? true)) return { status: 503, text: 'no store' }
    return this.#isClosed ? { status: 404, text: 'leaving' } : { status: 200, text: 'ok' }
  }

  get #isClosed(): boolean {
    return this.#closing !== undefined
  }

  close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: number): Promise<void> {
    this.#known.close()
    this.#agents.leave()
    // While it drains it still listens: to a balancer that cannot connect it would be dead, and what is under way be cut off.
    if (drainMs === 0) for (const server of this.#servers) server.takeNoMore()
    try {
      await this.runtime.close({ detach: true, drainMs })
    } finally {
      for (const server of this.#servers) server.takeNoMore()
      // The engine hears that its attempts are over, and begins them again elsewhere: the agents are free.
      await Promise.all([...this.#servers].map((server) => server.end()))
    }
  }
}

/** Server that the engine connects to, and its connections. */
class Listening {
  readonly #server: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()
  /** Sockets of open connections: destroying an HTTP/2 session leaves its socket open for as long as the other end likes. */
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
