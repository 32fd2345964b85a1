import type { IncomingMessage } from 'node:http'
import { bridgeProtocol, tokenProtocolPrefix } from '../../../wire/src/bridgeProtocol.ts'
import { allowsHost, allowsOrigin, allowsSite, type OriginRule } from './origins.ts'
import type { Permit } from './authenticator.ts'
import type { Bridge } from './bridge.ts'
import type { RefusalKind } from './refusalLog.ts'

/** Reason why a request is rejected, with the HTTP status. */
export interface Refusal {
  readonly status:
    | '400 Bad Request'
    | '401 Unauthorized'
    | '403 Forbidden'
    | '404 Not Found'
    | '500 Internal Server Error'
    | '503 Service Unavailable'
  readonly kind: RefusalKind
  readonly why: string
}

/** Decides which requests a server answers, by origin, host and token. */
export class Admission {
  readonly #bridge: Bridge
  readonly #rule: OriginRule

  constructor(bridge: Bridge, origins: readonly string[] | undefined) {
    this.#bridge = bridge
    this.#rule = { origins, isGuarded: bridge.authenticator.isGuarded }
  }

  /** Returns the reason to reject a request, regardless of its sender; `undefined` if there is none. */
  refuse(request: IncomingMessage): Refusal | undefined {
    const { origin, host, upgrade } = request.headers
    if (!allowsOrigin(origin, host, this.#rule)) return foreignOrigin
    // Browsers always name the origin of a page that opens a WebSocket.
    if (origin !== undefined || upgrade !== undefined) return undefined
    const isOwnSite = allowsSite(request.headers, tokenOf(request) !== undefined, this.#rule)
    return isOwnSite ? this.refuseHost(request) : foreignSite
  }

  /** Returns the reason to reject a request because of its host name. */
  refuseHost({ headers: { host } }: IncomingMessage): Refusal | undefined {
    return allowsHost(host, this.#rule) ? undefined : foreignHost
  }

  /** Returns the permit of a request's sender; `undefined` if it has none. A promise, which may reject, if the application has to be asked. */
  permit(request: IncomingMessage): Permit | undefined | Promise<Permit | undefined> {
    return this.#bridge.authenticator.permit(request, tokenOf(request))
  }

  /** Logs a rejected request. */
  logRefusal(request: IncomingMessage, { kind, why }: Pick<Refusal, 'kind' | 'why'>): void {
    const { origin, host } = request.headers
    this.#bridge.refusals.log(kind, why, { path: pathOf(request), origin, host, address: addressOf(request) })
  }
}

const foreignOrigin: Refusal = {
  status: '403 Forbidden',
  kind: 'origin',
  why: 'A page of another origin was turned away: add its origin, such as "http://localhost:5173", to the option "origins" of serve.',
}
const foreignSite: Refusal = {
  status: '403 Forbidden',
  kind: 'origin',
  why: 'A page of another site had a browser ask for this: without a token that is answered to pages of this server alone.',
}
const foreignHost: Refusal = {
  status: '403 Forbidden',
  kind: 'host',
  why: 'A request under a foreign name was turned away: without tokens only names of this machine are answered.',
}
export const serverFull: Refusal = {
  status: '503 Service Unavailable',
  kind: 'full',
  why: 'There are as many connections as limits.connections allows, or as many as who may only look may have of them.',
}
export const serverClosing: Refusal = {
  status: '503 Service Unavailable',
  kind: 'full',
  why: 'The server is shutting down.',
}
export const badToken: Refusal = {
  status: '401 Unauthorized',
  kind: 'token',
  why: 'The token is missing or wrong.',
}
export const undecided: Refusal = {
  status: '500 Internal Server Error',
  kind: 'authenticate',
  why: 'The server could not find out who you are: try again later.',
}
export const badProtocol: Refusal = {
  status: '400 Bad Request',
  kind: 'protocol',
  why: `A WebSocket of the bridge takes the subprotocol "${bridgeProtocol}".`,
}
/** Refusal of a request for a path at which nothing is served. */
export const unknownPath = (bridgePath: string): Refusal => ({
  status: '404 Not Found',
  kind: 'path',
  why: `Nothing is served at this path; the bridge is at ${bridgePath}.`,
})

/** Returns the subprotocols that a request offers. */
export const protocolsOf = ({ headers }: IncomingMessage): readonly string[] =>
  headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []

/** Returns the token of a request, from its `Authorization` header or a subprotocol. */
export function tokenOf(request: IncomingMessage): string | undefined {
  const bearer = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer !== undefined) return bearer
  const carrier = protocolsOf(request).find((name) => name.startsWith(tokenProtocolPrefix))
  return carrier === undefined
    ? undefined
    : Buffer.from(carrier.slice(tokenProtocolPrefix.length), 'base64url').toString('utf8')
}

/** Returns the path of a request, without its query. */
export const pathOf = ({ url }: IncomingMessage): string => URL.parse(url ?? '/', 'http://localhost')?.pathname ?? ''

/** Returns the remote address of a request, for the log. */
export const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? ''
