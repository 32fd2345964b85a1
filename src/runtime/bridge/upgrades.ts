import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { bridgeProtocol, closeCodes } from '../../protocol/frames.ts'
import type { Bridge, Connection } from './bridge.ts'
import { BridgeSession } from './bridgeSession.ts'
import { bearerOf, pathOf, type Door, type Refusal } from './door.ts'
import type { Endpoint } from './endpoint.ts'
import { EndpointSocket } from './endpointSocket.ts'
import { bridgePath } from './serveOptions.ts'
import { Visit } from './visit.ts'

/** A connection that may be opened, or why not. */
type Opening = Refusal | ((socket: WebSocket) => Connection)

/** Makes connections of the requests to open a WebSocket: at `/bridge`, and at the paths of endpoints. */
export class Upgrades {
  readonly #bridge: Bridge
  readonly #door: Door
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #sockets: WebSocketServer

  constructor(bridge: Bridge, door: Door, endpoints: ReadonlyMap<string, Endpoint>) {
    this.#bridge = bridge
    this.#door = door
    this.#endpoints = endpoints
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: bridge.limits.frameBytes,
      perMessageDeflate: false,
      handleProtocols: (offered, request) =>
        offered.has(bridgeProtocol)
          ? bridgeProtocol
          : pathOf(request) === bridgePath
            ? false
            : ([...offered][0] ?? false),
    })
  }

  /** Whether a path is one of those here. */
  knows(path: string): boolean {
    return path === bridgePath || this.#endpoints.get(path)?.connect !== undefined
  }

  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const opening = this.#openingOf(request)
    if (typeof opening === 'string') return reject(socket, opening)
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = opening(webSocket)
      this.#bridge.connections.add(connection)
      webSocket.on('close', () => this.#bridge.left(connection))
    })
  }

  close(): void {
    this.#sockets.close()
  }

  #openingOf(request: IncomingMessage): Opening {
    const refusal = this.#door.refuse(request)
    if (refusal !== undefined) return refusal
    const path = pathOf(request)
    if (path === bridgePath) return this.#session(request)
    const endpoint = this.#endpoints.get(path)
    const grant = this.#door.grantOf(request)
    if (endpoint?.connect === undefined) return '404 Not Found'
    if (grant === undefined) return '401 Unauthorized'
    return (webSocket) => {
      const { clock, limits } = this.#bridge
      const socket = new EndpointSocket(webSocket, { clock, ...limits })
      socket.guard(() => endpoint.connect!(socket, new Visit(this.#bridge, grant)))
      return socket
    }
  }

  #session(request: IncomingMessage): Opening {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
    if (!offered.includes(bridgeProtocol)) return '400 Bad Request'
    return (webSocket) => {
      const { clock, limits } = this.#bridge
      const session = new BridgeSession(webSocket, this.#bridge, bearerOf(request))
      const cancel = clock.after(limits.helloMs, () => {
        if (!session.isWelcome) session.close(closeCodes.unauthorised, 'no hello in time')
      })
      webSocket.on('close', cancel)
      return session
    }
  }
}

/** Turns a request to open a WebSocket away. The socket is no more the HTTP server's to close: whoever stayed would hold it open. */
export function reject(socket: Duplex, status: Refusal): void {
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
