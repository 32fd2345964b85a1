import { RuntimeError } from '../../protocol/errors.ts'
import type { Tokens } from './roles.ts'

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i

/** @throws RuntimeError `INVALID_OPTION`: whoever listens beyond this machine needs a token. */
export function checkExposure(host: string, tokens: Tokens | undefined): void {
  if (loopback.test(host) || (tokens !== undefined && Object.keys(tokens).length > 0)) return
  throw new RuntimeError(
    'INVALID_OPTION',
    `serve: ${host} can be reached from other machines, and there are no tokens.`,
  )
}

/** Which browser pages may connect. */
export interface OriginRule {
  /** Origins that may; default: the server's own. */
  readonly origins: readonly string[] | undefined
  /** Whether the server requires a token. */
  readonly isGuarded: boolean
}

/**
 * Whether a request that names no origin may be answered. A page reads from its own server without naming one, and without tokens
 * its name may have been made to point here: it must be one of this machine, or of a page that may connect.
 */
export function allowsHost(host: string | undefined, { origins = [], isGuarded }: OriginRule): boolean {
  if (isGuarded || host === undefined) return true
  const name = URL.parse(`http://${host}`)?.hostname ?? ''
  return loopback.test(name) || origins.some((origin) => URL.parse(origin)?.host === host)
}

/**
 * Whether a browser page of this origin may connect; programs send none. Without tokens a page of the server itself counts only
 * under a name of this machine: any other name may be one that a foreign page has had point here.
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
