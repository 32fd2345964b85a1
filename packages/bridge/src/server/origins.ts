import type { IncomingHttpHeaders } from 'node:http'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ServeOptions } from './serveOptions.ts'

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i

/** Checks the exposure. @throws RuntimeError `INVALID_OPTION` when listening beyond this machine without tokens or `authenticate` */
export function checkExposure(
  host: string,
  { tokens = {}, authenticate, gatewaySecret }: Pick<ServeOptions, 'tokens' | 'authenticate' | 'gatewaySecret'>,
): void {
  if (loopback.test(host) || authenticate !== undefined || gatewaySecret !== undefined) return
  if (Object.keys(tokens).length > 0) return
  throw new RuntimeError(
    'INVALID_OPTION',
    `serve: ${host} can be reached from other machines, and there are no tokens, and no authenticate.`,
  )
}

/** Rules for the browser pages that may connect. */
export interface OriginRule {
  /** Allowed origins; default: the server's own. */
  readonly origins: readonly string[] | undefined
  /** True if the server requires a token. */
  readonly isGuarded: boolean
}

/**
 * Returns true if a request without an `Origin` header may be answered. Pages omit it for same-origin requests, and DNS rebinding can
 * point a foreign name at this server, so without tokens the host must be a name of this machine or of an allowed origin.
 */
export function allowsHost(host: string | undefined, { origins = [], isGuarded }: OriginRule): boolean {
  if (isGuarded || host === undefined) return true
  const name = URL.parse(`http://${host}`)?.hostname ?? ''
  return loopback.test(name) || origins.some((origin) => URL.parse(origin)?.host === host)
}

/**
 * Returns true if a browser may load a resource, by the context of its request: pages of other sites can request it with `img` or a frame,
 * without an origin. Such requests bring cookies and no token, so without a guard they are refused. With a guard, a link that a person
 * follows is answered.
 */
export const allowsSite = (
  { 'sec-fetch-site': site, 'sec-fetch-dest': dest }: IncomingHttpHeaders,
  hasToken: boolean,
  { isGuarded }: OriginRule,
): boolean => (site !== 'cross-site' && site !== 'same-site') || (isGuarded && (hasToken || dest === 'document'))

/**
 * Returns true if a browser page of this origin may connect; programs send no origin. Without tokens, the server's own origin counts only
 * under a name of this machine, because of DNS rebinding.
 */
export function allowsOrigin(
  origin: string | undefined,
  host: string | undefined,
  { origins, isGuarded }: OriginRule,
): boolean {
  if (origin === undefined) return true
  if (origins !== undefined) return origins.includes(origin)
  const page = URL.parse(origin)
  return page !== null && page.host === host && (isGuarded || loopback.test(page.hostname))
}
