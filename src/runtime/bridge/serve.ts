import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import { isAgentDefinition, type AgentDefinition } from '../../actors/agentDefinition.ts'
import type { Clock } from '../../protocol/clock.ts'
import { describeIssues, messageOf, RuntimeError } from '../../protocol/errors.ts'
import { bridgeProtocol, closeCodes, roleSchema } from '../../protocol/frames.ts'
import { agentIdSchema } from '../../protocol/ids.ts'
import type { Store } from '../../protocol/store.ts'
import { allowsOrigin, checkExposure, type Tokens } from './access.ts'
import { Bridge, type BridgeRuntime } from './bridge.ts'
import { BridgeSession } from './bridgeSession.ts'
import { bridgeLimitsSchema, type BridgeLimits } from './limits.ts'

export interface ServeOptions {
  /** Default 0: any free one. */
  readonly port?: number
  /** Default `127.0.0.1`. Beyond this machine tokens are required. */
  readonly host?: string
  /** A server of your own, with TLS for example, in place of `port` and `host`: the bridge answers `/bridge` on it. */
  readonly server?: Server | TlsServer
  /** Who may do what, by token: a role, or `{ role, agents }` for some agents only. Without tokens everyone is `admin`. */
  readonly tokens?: Tokens
  /** Origins of browser pages that may connect; default: the server's own. */
  readonly origins?: readonly string[]
  /** Agents that clients may spawn, and that are woken from their logs. */
  readonly definitions?: readonly AgentDefinition[]
  readonly limits?: Partial<BridgeLimits>
}

/** A running bridge. */
export interface BridgeServer {
  /** Where clients connect: `ws://127.0.0.1:port/bridge`. */
  readonly url: string
  readonly port: number
  /** Connected clients. */
  readonly connections: number
  /** Tells clients, lets them leave, closes. Agents go on. Idempotent. */
  close(): Promise<void>
}

const bridgePath = '/bridge'

const grantsSchema = z.array(
  z.union([roleSchema, z.strictObject({ role: roleSchema, agents: z.array(agentIdSchema).optional() })]),
)

const optionsSchema = z
  .strictObject({
    port: z.int().min(0).max(65_535),
    host: z.string().min(1),
    server: z.custom(
      (value) => typeof (value as Server | undefined)?.on === 'function',
      'give a server of node:http or node:https',
    ),
    // The message must not quote a token: it is in the path of the issue.
    tokens: z
      .custom<Tokens>(
        (value) =>
          typeof value === 'object' && value !== null && Object.keys(value).every((token) => token.length >= 16),
        'a token needs at least 16 characters',
      )
      .refine(
        (tokens) => grantsSchema.safeParse(Object.values(tokens)).success,
        'a token is given a role, or { role, agents }',
      ),
    origins: z.array(z.string()),
    definitions: z.array(z.custom<AgentDefinition>(isAgentDefinition, 'give what defineAgent returns')),
    limits: bridgeLimitsSchema.partial(),
  })
  .partial()

/**
 * Serves a runtime's agents over WebSocket.
 *
 * @throws RuntimeError `INVALID_OPTION`, also for a host beyond this machine without tokens; `BRIDGE_LISTEN_FAILED`
 */
export async function serve(
  runtime: BridgeRuntime,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  options: ServeOptions = {},
): Promise<BridgeServer> {
  const checked = optionsSchema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `serve: ${describeIssues(checked.error)}.`)
  const { port = 0, host = '127.0.0.1', tokens, origins, definitions = [] } = options
  if (options.server === undefined) checkExposure(host, tokens)
  const limits = bridgeLimitsSchema.parse(options.limits ?? {})
  const byName = new Map(definitions.map((definition) => [definition.name, definition]))
  const bridge = new Bridge(runtime, { store, clock, limits, tokens, definitions: byName })
  const http = options.server ?? createServer(answer)
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(bridgeProtocol) ? bridgeProtocol : false),
  })
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const path = URL.parse(request.url ?? '/', 'http://localhost')?.pathname
    // On a server of the application's own other paths may be for others.
    if (path !== bridgePath && http.listenerCount('upgrade') > 1) return
    const isClosing = closing !== undefined
    const refusal = path === bridgePath ? refuse(request, { bridge, origins, isClosing }) : '404 Not Found'
    if (refusal !== undefined) return reject(socket, refusal)
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const session = new BridgeSession(webSocket, bridge, bearerOf(request))
      bridge.sessions.add(session)
      const cancel = clock.after(limits.helloMs, () => {
        if (!session.isWelcome) session.close(closeCodes.unauthorised, 'no hello in time')
      })
      webSocket.on('close', cancel)
    })
  }
  let closing: Promise<void> | undefined
  if (options.server === undefined) await listen(http, port, host)
  http.on('upgrade', upgrade)
  let cancelBeat = beat(clock, bridge)
  const address = http.address() as AddressInfo | null

  return {
    url: `ws://${host.includes(':') ? `[${host}]` : host}:${address?.port ?? port}${bridgePath}`,
    port: address?.port ?? port,
    get connections() {
      return bridge.sessions.size
    },
    close() {
      closing ??= shutDown()
      return closing
    },
  }

  async function shutDown(): Promise<void> {
    cancelBeat()
    cancelBeat = () => {}
    http.off('upgrade', upgrade)
    for (const session of bridge.sessions) {
      session.send({ type: 'closing' })
      session.close(closeCodes.goingAway, 'the server shuts down')
    }
    await drained(bridge, clock, limits.drainMs)
    for (const session of bridge.sessions) session.terminate()
    bridge.close()
    sockets.close()
    if (options.server === undefined) {
      await new Promise<void>((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      })
    }
  }
}

/** Once a second: fresh allowances; every `pingMs`: is the client still there? */
function beat(clock: Clock, bridge: Bridge): () => void {
  let since = 0
  let cancel = (): void => {}
  const next = (): void => {
    cancel = clock.after(1_000, () => {
      since += 1_000
      const isPing = since >= bridge.limits.pingMs
      if (isPing) since = 0
      for (const session of bridge.sessions) {
        session.tick()
        if (isPing) session.ping()
      }
      next()
    })
  }
  next()
  return () => cancel()
}

async function drained(bridge: Bridge, clock: Clock, ms: number): Promise<void> {
  if (bridge.sessions.size === 0) return
  await new Promise<void>((resolve) => {
    const cancel = clock.after(ms, resolve)
    bridge.onEmpty(() => {
      cancel()
      resolve()
    })
  })
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const isHealth = request.url === '/healthz'
  response.writeHead(isHealth ? 200 : 404, { 'content-type': 'text/plain', 'cache-control': 'no-store' })
  response.end(isHealth ? 'ok\n' : 'not found\n')
}

const bearerOf = ({ headers }: IncomingMessage): string | undefined =>
  /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]

interface Door {
  readonly bridge: Bridge
  readonly origins: readonly string[] | undefined
  readonly isClosing: boolean
}

/** Why a connection is refused before it becomes one. */
function refuse(request: IncomingMessage, { bridge, origins, isClosing }: Door): string | undefined {
  if (isClosing) return '503 Service Unavailable'
  const isGuarded = bridge.tokens !== undefined
  if (!allowsOrigin(request.headers.origin, request.headers.host, { origins, isGuarded })) return '403 Forbidden'
  if (bridge.sessions.size >= bridge.limits.connections) return '503 Service Unavailable'
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  return offered.includes(bridgeProtocol) ? undefined : '400 Bad Request'
}

function reject(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  try {
    await new Promise<void>((resolve, rejectIt) => {
      server.once('error', rejectIt)
      server.listen(port, host, () => {
        server.off('error', rejectIt)
        resolve()
      })
    })
  } catch (thrown) {
    throw new RuntimeError(
      'BRIDGE_LISTEN_FAILED',
      `The bridge cannot listen on ${host}:${port}: ${messageOf(thrown)}.`,
      { cause: thrown },
    )
  }
}
