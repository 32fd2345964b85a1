import type { IncomingMessage } from 'node:http'
import { allowsHost, allowsOrigin, type Grant } from './access.ts'
import type { Bridge } from './bridge.ts'

/** An HTTP status with which somebody is turned away. */
export type Refusal =
  | '400 Bad Request'
  | '401 Unauthorized'
  | '403 Forbidden'
  | '404 Not Found'
  | '503 Service Unavailable'

/** Who may come in at a server. */
export class Door {
  readonly #bridge: Bridge
  readonly #origins: readonly string[] | undefined

  constructor(bridge: Bridge, origins: readonly string[] | undefined) {
    this.#bridge = bridge
    this.#origins = origins
  }

  /** Why a request is turned away whoever sends it. */
  refuse({ headers: { origin, host, upgrade } }: IncomingMessage): Refusal | undefined {
    const rule = { origins: this.#origins, isGuarded: this.#bridge.tokens !== undefined }
    if (!allowsOrigin(origin, host, rule)) return '403 Forbidden'
    // Browsers always name the origin of a page that opens a WebSocket.
    if (origin === undefined && upgrade === undefined && !allowsHost(host, rule)) return '403 Forbidden'
    return this.#bridge.connections.size >= this.#bridge.limits.connections ? '503 Service Unavailable' : undefined
  }

  /** What the sender of a request may do, by the token in its header. */
  grantOf(request: IncomingMessage): Grant | undefined {
    return this.#bridge.grantOf(bearerOf(request))
  }
}

/** The token in a request's `Authorization` header. */
export const bearerOf = ({ headers }: IncomingMessage): string | undefined =>
  /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]

/** The path of a request, without its query. */
export const pathOf = ({ url }: IncomingMessage): string => URL.parse(url ?? '/', 'http://localhost')?.pathname ?? ''
