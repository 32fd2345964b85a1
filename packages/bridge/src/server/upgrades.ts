import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type * as Ws from 'ws'
import type { WebSocket, WebSocketServer } from 'ws'
import { bridgeProtocol, closeCodes, tokenProtocolPrefix } from '../../../wire/src/bridgeProtocol.ts'
import type { Bridge } from './bridge.ts'
import { BridgeSession } from './bridgeSession.ts'
import {
  addressOf,
  serverClosing,
  serverFull,
  undecided,
  pathOf,
  protocolsOf,
  tokenOf,
  unknownPath,
  badProtocol,
  badToken,
  type Admission,
  type Refusal,
} from './admission.ts'
import { compression } from './compression.ts'
import type { Connection } from './connections.ts'
import type { Endpoint, Endpoints } from './endpoint.ts'
import type { RefusalKind } from './refusalLog.ts'
import { EndpointSocket } from './endpointSocket.ts'
import { isStillPermitted, type Permit } from './authenticator.ts'
import { AgentAccess } from './agentAccess.ts'

/** Paths at which the server accepts connections. */
export interface Paths {
  /** Base path of the server's own resources; it ends with a slash. */
  readonly base: string
  readonly bridge: string
  readonly endpoints: Endpoints
}

/** Function that opens a connection, or the reason not to. */
type Opening = Refusal | ((socket: WebSocket) => Connection)

/** Upgrades WebSocket requests at the bridge's path and at the endpoints' paths. */
export class Upgrades {
  readonly #bridge: Bridge
  readonly #admission: Admission
  readonly #paths: Paths
  readonly #sockets: WebSocketServer

  constructor(bridge: Bridge, admission: Admission, paths: Paths, ws: Pick<typeof Ws, 'WebSocketServer'>) {
    this.#bridge = bridge
    this.#admission = admission
    this.#paths = paths
    this.#sockets = new ws.WebSocketServer({
      noServer: true,
      maxPayload: bridge.limits.frameBytes,
      perMessageDeflate: compression,
      handleProtocols: (offered, request) => chosenOf([...offered], pathOf(request) === paths.bridge) ?? false,
    })
  }

  /** Returns true if this server upgrades requests at a path. */
  knows(path: string): boolean {
    return path === this.#paths.bridge || this.#paths.endpoints.at(path)?.connect !== undefined
  }

  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const opening = this.#openingOf(request)
    if (!(opening instanceof Promise)) return this.#answer(request, socket, head, opening)
    void opening
      .catch(() => undecided)
      .then((decided) => this.#answer(request, socket, head, this.#bridge.isClosed ? serverClosing : decided))
  }

  #answer(request: IncomingMessage, socket: Duplex, head: Buffer, opening: Opening): void {
    // The client may have left while the application was asked.
    if (socket.destroyed) return
    if (typeof opening !== 'function') return this.reject(request, socket, opening)
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = opening(webSocket)
      this.#bridge.connections.add(connection)
      webSocket.on('close', () => this.#bridge.disconnected(connection))
    })
  }

  /** Rejects a request. The HTTP server no longer owns the socket, so it must be closed here. */
  reject(request: IncomingMessage, socket: Duplex, refusal: Refusal): void {
    this.#admission.logRefusal(request, refusal)
    socket.once('finish', () => socket.destroy())
    socket.end(
      `HTTP/1.1 ${refusal.status}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nContent-Length: 0\r\n\r\n`,
    )
  }

  close(): void {
    this.#sockets.close()
  }

  #openingOf(request: IncomingMessage): Opening | Promise<Opening> {
    const refusal = this.#admission.refuse(request)
    if (refusal !== undefined) return refusal
    const path = pathOf(request)
    if (path === this.#paths.bridge) {
      // The application is asked once the client has said hello.
      const known = this.#bridge.authenticator.permitOf(tokenOf(request))
      const isKnown = known !== undefined
      if (isKnown && !this.#bridge.hasRoom(known, addressOf(request))) return serverFull
      if (!protocolsOf(request).includes(bridgeProtocol)) return badProtocol
      return (webSocket) => this.#session(request, webSocket, isKnown)
    }
    const endpoint = this.#paths.endpoints.at(path)
    if (endpoint?.connect === undefined) return unknownPath(this.#paths.bridge)
    const permit = this.#admission.permit(request)
    return permit instanceof Promise
      ? permit.then((decided) => this.#endpointOpening(endpoint, decided, addressOf(request)))
      : this.#endpointOpening(endpoint, permit, addressOf(request))
  }

  #endpointOpening(endpoint: Endpoint, permit: Permit | undefined, address: string): Opening {
    if (permit === undefined) return badToken
    if (!this.#bridge.hasRoom(permit, address)) return serverFull
    return (webSocket) => {
      const { clock, limits } = this.#bridge
      const socket = new EndpointSocket(webSocket, { clock, ...limits, isGranted: () => isStillPermitted(permit) })
      const { front } = this.#bridge
      this.#bridge.room.take(socket, permit, address)
      socket.run(() =>
        front === undefined
          ? endpoint.connect!(socket, new AgentAccess(this.#bridge, permit.grant, { who: permit.owner, permit }))
          : front.connect(socket, permit, endpoint.path),
      )
      return socket
    }
  }

  #session(request: IncomingMessage, webSocket: WebSocket, isKnown: boolean): BridgeSession {
    const { clock, limits, unauthenticated } = this.#bridge
    const logRefusal = (kind: RefusalKind, why: string): void => this.#admission.logRefusal(request, { kind, why })
    const session = new BridgeSession(webSocket, this.#bridge, {
      permit: (token) => this.#bridge.authenticator.permit(request, token),
      token: tokenOf(request),
      address: addressOf(request),
      logRefusal,
    })
    const evicted = isKnown ? undefined : unauthenticated.add(session, addressOf(request))
    if (evicted !== undefined) {
      logRefusal('hello', 'Many sockets have not said hello: the one that waited longest was closed.')
      this.#bridge.disconnected(evicted)
      evicted.terminate()
    }
    const cancel = clock.after(limits.helloMs, () => {
      if (session.isAuthenticated || session.isAuthenticating) return
      logRefusal('hello', 'A socket did not say hello in time.')
      session.close(closeCodes.unauthorised, 'no hello in time')
    })
    webSocket.on('close', () => {
      cancel()
      unauthenticated.delete(session)
    })
    return session
  }
}

/** Returns the subprotocol to use. The one that carries a token does not count. */
function chosenOf(offered: readonly string[], isBridge: boolean): string | undefined {
  if (offered.includes(bridgeProtocol)) return bridgeProtocol
  return isBridge ? undefined : offered.find((name) => !name.startsWith(tokenProtocolPrefix))
}
