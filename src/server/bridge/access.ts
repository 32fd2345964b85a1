import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { RuntimeError } from '../../protocol/errors.ts'
import type { Role } from '../../protocol/frames.ts'

/** What holding a token allows. */
export interface Grant {
  readonly role: Role
  /** Agents it may see and drive, those below them included; default: all. */
  readonly agents?: readonly string[]
}

/** Grants by token. */
export type Tokens = { readonly [token: string]: Role | Grant }

/** The shortest token accepted, in characters. */
export const minTokenLength = 16

const roles: readonly Role[] = ['observe', 'drive', 'admin']

/** Whether one role includes the rights of another. */
export const mayAct = (has: Role, needs: Role): boolean => roles.indexOf(has) >= roles.indexOf(needs)

/** Whether a client may see and drive an agent, by its id and those of its ancestors. */
export type Reach = (agentId: string, path: readonly string[]) => boolean

/** @throws RuntimeError `BRIDGE_FORBIDDEN` */
export function checkReach(reach: Reach, agentId: string, path: readonly string[]): void {
  if (!reach(agentId, path)) throw new RuntimeError('BRIDGE_FORBIDDEN', `This token does not reach agent "${agentId}".`)
}

/** Whether a grant reaches an agent, by its own id or an ancestor's. */
export const reaches = ({ agents }: Grant, agentId: string, path: readonly string[]): boolean =>
  agents === undefined || agents.includes(agentId) || path.some((ancestor) => agents.includes(ancestor))

/** Whether two grants allow the same. */
export const isSameGrant = (one: Grant | undefined, other: Grant | undefined): boolean =>
  one?.role === other?.role && one?.agents?.join(' ') === other?.agents?.join(' ')

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Finds what a token allows. Every token is compared, each in constant time over digests of equal length, so that the time
 * tells nothing of how much of a guess was right.
 */
export function grantOf(tokens: Tokens, given: string): Grant | undefined {
  const seen = digest(given)
  let found: Grant | undefined
  for (const [token, grant] of Object.entries(tokens)) {
    // The application may have added it since `serve` looked at them.
    if (token.length < minTokenLength) continue
    if (timingSafeEqual(digest(token), seen)) found = typeof grant === 'string' ? { role: grant } : grant
  }
  return found
}

/** Hex digits of the keyed hash that a session id carries. */
const macLength = 32

const macOf = (name: string, token: string): string =>
  createHmac('sha256', token).update(name).digest('hex').slice(0, macLength)

/**
 * The session of this name of whoever has a token: `<name>.<mac>`, where `mac` is the first 32 hex digits of HMAC-SHA256 of the name,
 * keyed by the token. Session ids are in the logs, for everyone to read; only who has the token can make one of its own.
 */
export const sessionIdOf = (name: string, token: string): string => `${name}.${macOf(name, token)}`

/**
 * The session a client goes on with, or begins. Of whoever has a token it must be one of its own; without, everybody is the same.
 *
 * @throws RuntimeError `BRIDGE_SESSION`
 */
export function resolveSession(sessionId: string | undefined, token: string | undefined, newId: () => string): string {
  if (token === undefined) return sessionId ?? newId()
  if (sessionId === undefined) return sessionIdOf(newId(), token)
  if (isSessionOf(sessionId, token)) return sessionId
  throw new RuntimeError('BRIDGE_SESSION', `The session "${sessionId}" was not made with this token.`)
}

/** Whether a session is one of this token. Nothing is remembered for it, and the time it takes tells nothing of the hash. */
export function isSessionOf(sessionId: string, token: string): boolean {
  const dot = sessionId.lastIndexOf('.')
  const given = Buffer.from(sessionId.slice(dot + 1))
  return (
    dot > 0 && given.length === macLength && timingSafeEqual(given, Buffer.from(macOf(sessionId.slice(0, dot), token)))
  )
}

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
