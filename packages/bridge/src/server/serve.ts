import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { answerText, ServedPage } from '../page/servePage.ts'
import { Endpoints } from './endpoint.ts'
import { checkExposure } from './origins.ts'
import type { BridgeRuntime } from './agentDirectory.ts'
import { Bridge, type BridgeParts } from './bridge.ts'
import { Announcing } from './announcing.ts'
import { Admission, pathOf, unknownPath } from './admission.ts'
import { startHeartbeat } from './heartbeat.ts'
import { limitsOf } from './limits.ts'
import { HttpRoutes } from './httpRoutes.ts'
import { AgentAccess } from './agentAccess.ts'
import { share } from './shareLink.ts'
import { ownPlaces } from './ownPlaces.ts'
import { placesOf, seenFrom } from './places.ts'
import { checkServeOptions, type BridgeServer, type ServeOptions } from './serveOptions.ts'
import { Upgrades } from './upgrades.ts'
import { createRequire } from 'node:module'
import type * as Ws from 'ws'

/**
 * Loads the package `ws`. As CommonJS it takes four fifths of the time of an `import`. In a bundle it may exist
 * nowhere else, so the fallback is an import, which bundlers see.
 */
async function loadWs(): Promise<typeof Ws> {
  try {
    return createRequire(import.meta.url)('ws') as typeof Ws
  } catch {
    return await import('ws')
  }
}

/**
 * Serves a runtime's agents over WebSocket.
 *
 * @throws RuntimeError `INVALID_OPTION`, also for a host beyond this machine without tokens or `authenticate`; `BRIDGE_LISTEN_FAILED`
 */
export async function serve(
  runtime: BridgeRuntime,
  shared: Pick<BridgeParts, 'store' | 'clock' | 'redactor' | 'logger' | 'front'>,
  options: ServeOptions = {},
): Promise<BridgeServer> {
  checkServeOptions(options)
  const { port = 0, host = '127.0.0.1', tokens, authenticate } = options
  const { base, bridge: path } = placesOf(options)
  const { definitions = [], endpoints = [] } = options
  const hasPage = options.inspector ?? options.server === undefined
  if (options.server === undefined) checkExposure(host, options)
  const limits = limitsOf(options.limits)
  const byName = new Map(definitions.map((definition) => [definition.name, definition]))
  for (const endpoint of endpoints) endpoint.check?.([...byName.keys()])
  const { clock } = shared
  const role = options.role ?? 'admin'
  const { frameAncestors = [], alertUsd } = typeof options.inspector === 'object' ? options.inspector : {}
  const bridge = new Bridge(runtime, {
    ...shared,
    limits,
    tokens,
    authenticate,
    role,
    definitions: byName,
    deps: options.deps,
    shareKey: options.shareKey,
    alertUsd,
    gatewaySecret: options.gatewaySecret,
    isHere: (place) => ownPlaces(options.advertise, addressOf(http), path).has(place),
    dispatch: options.dispatch,
  })
  const admission = new Admission(bridge, options.origins)
  const paths = { base, bridge: path, endpoints: new Endpoints(endpoints) }
  const page = hasPage === false ? undefined : new ServedPage({ bridge: seenFrom(base, path), frameAncestors })
  const routes = new HttpRoutes(bridge, admission, paths, page)
  const upgrades = new Upgrades(bridge, admission, paths, await loadWs())
  const http =
    options.server ??
    // Other protocols that are offered, such as HTTP/2, are not taken up, and the request is answered as it is.
    createServer({ shouldUpgradeCallback: isForWebSocket }, (request, response) => {
      if (routes.handle(request, response)) return
      admission.logRefusal(request, unknownPath(path))
      answerText(response, 404, 'not found')
    })
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    if (upgrades.knows(pathOf(request))) upgrades.handle(request, socket, head)
    // On the application's own server other paths may belong to other listeners.
    else if (http.listenerCount('upgrade') === 1) upgrades.reject(request, socket, unknownPath(path))
  }
  let closing: Promise<void> | undefined
  try {
    if (options.server === undefined) await listen(http, port, host)
  } catch (thrown) {
    options.dispatch?.close?.()
    bridge.close()
    throw thrown
  }
  const announcing = new Announcing(shared.store, options.advertise, (error) =>
    bridge.refusals.log('store', messageOf(error)),
  )
  const announceLater = (): void => void announcing.at(urlOf(http, addressOf(http), path))
  if (http.listening) await announcing.at(urlOf(http, addressOf(http), path))
  else http.once('listening', announceLater)
  http.on('upgrade', upgrade)
  const stopHeartbeat = startHeartbeat(clock, bridge)
  // It stays the same after the server is closed.
  const own = options.server === undefined ? { address: host, port: addressOf(http)!.port } : undefined

  return {
    get url() {
      return urlOf(http, own ?? addressOf(http), path)
    },
    get port() {
      return (own ?? addressOf(http))?.port ?? 0
    },
    get connections() {
      return bridge.connections.size - bridge.unauthenticated.size
    },
    async shareLink(agentId, { page: publicPage, ...how } = {}) {
      const made = await share(bridge, new AgentAccess(bridge, { role: 'admin' }), agentId, how)
      const here = urlOf(http, own ?? addressOf(http), path).replace(/^ws/, 'http')
      return { ...made, url: linkTo(URL.parse(publicPage ?? base, here || undefined), agentId, made.token) }
    },
    handle: (request, response) => routes.handle(request, response),
    close() {
      closing ??= shutDown()
      return closing
    },
  }

  async function shutDown(): Promise<void> {
    stopHeartbeat()
    bridge.closeDoors()
    http.off('listening', announceLater)
    http.off('upgrade', upgrade)
    for (const connection of bridge.connections) connection.leave()
    await announcing.end()
    await drained(bridge, clock, limits.drainMs)
    for (const connection of bridge.connections) connection.terminate()
    options.dispatch?.close?.()
    bridge.close()
    upgrades.close()
    if (options.server === undefined) {
      await new Promise<void>((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      })
    }
  }
}

/** Returns the address of the page for an agent, with a token. @throws RuntimeError `INVALID_OPTION` if the address of the page is unknown */
function linkTo(page: URL | null, agent: string, token: string): string {
  if (page === null || !/^https?:$/.test(page.protocol))
    throw new RuntimeError(
      'INVALID_OPTION',
      'shareLink: give as page where it is, such as "https://example.com/agents/".',
    )
  page.hash = new URLSearchParams({ agent, token }).toString()
  return page.href
}

const isForWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

async function drained(bridge: Bridge, clock: Clock, ms: number): Promise<void> {
  if (bridge.connections.size === 0) return
  await new Promise<void>((resolve) => {
    const cancel = clock.after(ms, resolve)
    bridge.onEmpty(() => {
      cancel()
      resolve()
    })
  })
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (thrown) {
    const what = `The bridge cannot listen on ${host}:${port}: ${messageOf(thrown)}.`
    throw new RuntimeError('BRIDGE_LISTEN_FAILED', what, { cause: thrown })
  }
}

type Address = Pick<AddressInfo, 'address' | 'port'>

/** Returns the address at which a server listens; `undefined` if it does not listen on a port. */
function addressOf(server: Server): Address | undefined {
  const address = server.address()
  return address === null || typeof address === 'string' ? undefined : address
}

/** Addresses at which this machine reaches a server that listens on all addresses, by the server's address. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }

/** Returns the address of a server for clients; empty if there is none. */
function urlOf(server: Server, address: Address | undefined, path: string): string {
  if (address === undefined) return ''
  const host = address.address.includes(':') ? `[${address.address}]` : address.address
  const scheme = server instanceof TlsServer ? 'wss' : 'ws'
  return `${scheme}://${reachable[address.address] ?? host}:${address.port}${path}`
}
