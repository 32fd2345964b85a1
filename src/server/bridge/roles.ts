import { createHash, timingSafeEqual } from 'node:crypto'
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
 * Finds the grant of a token. Compares with every token, each in constant time over digests of equal length, so that timing does not
 * reveal how close a guess was.
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
