import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** Number of hex digits of the keyed hash in a session id. */
const macLength = 32
/** Number of hex digits of the hash that stands for a session id. */
const markLength = 32

const macOf = (name: string, token: string): string =>
  createHmac('sha256', token).update(name).digest('hex').slice(0, macLength)

/**
 * Returns the session id for a name and a token: `<name>.<mac>`, where `mac` is the first 32 hex digits of HMAC-SHA256 of the name,
 * keyed by the token. Session ids appear in logs, but only a token's holder can make one that is accepted with it.
 */
export const sessionIdOf = (name: string, token: string): string => `${name}.${macOf(name, token)}`

/**
 * Returns the id of a session's command for logs: `markLength` hex digits of the SHA-256 of the session id, a
 * slash, and the command's id. Other clients read the logs, so the session id is not revealed.
 */
export const requestIdOf = (sessionId: string, id: string): string =>
  `${createHash('sha256').update(sessionId).digest('hex').slice(0, markLength)}/${id}`

/**
 * Returns the id of the session that a client continues or begins. With a token it must have been made with that token.
 *
 * @throws RuntimeError `BRIDGE_SESSION`
 */
export function resolveSession(sessionId: string | undefined, token: string | undefined, newId: () => string): string {
  if (token === undefined) return sessionId ?? newId()
  if (sessionId === undefined) return sessionIdOf(newId(), token)
  if (isSessionOf(sessionId, token)) return sessionId
  throw new RuntimeError('BRIDGE_SESSION', `The session "${sessionId}" was not made with this token.`)
}

/** Returns true if a session id was made with this token. Stateless, and in constant time. */
export function isSessionOf(sessionId: string, token: string): boolean {
  const dot = sessionId.lastIndexOf('.')
  const given = Buffer.from(sessionId.slice(dot + 1))
  return (
    dot > 0 && given.length === macLength && timingSafeEqual(given, Buffer.from(macOf(sessionId.slice(0, dot), token)))
  )
}
