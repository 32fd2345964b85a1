import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { agentIdSchema } from '../../../../src/protocol/ids.ts'
import { metadataSchema, type Metadata } from '../../../../src/protocol/metadata.ts'
import { keyedText, keyedValue, type Key } from './keyed.ts'
import type { Grant } from './roles.ts'

/** Minimum length of `shareKey`, in characters. */
export const minShareKeyLength = 32

const prefix = 'share.'
const purpose = 'share'

/** Returns true if a token claims to be a link's. No other authentication is tried for it. */
export const isShareToken = (token: string | undefined): token is string => token?.startsWith(prefix) === true

/** Agents that a link shows, and its expiry. */
export interface Share {
  /** Id of the agent that is shown, together with its descendants. */
  readonly agentId: string
  /** Metadata that agents must have, as for the client that made the link. */
  readonly metadata: Metadata | undefined
  /** Time at which the link expires, in epoch milliseconds. */
  readonly expiresAt: number
}

const claimsSchema = lazily(() =>
  onlyFields({ a: agentIdSchema(), m: metadataSchema().exactOptional(), e: z.int().positive() }),
)

/**
 * Tokens of read-only links: `share.<claims>.<hash>`, keyed by the server. The server stores nothing about
 * them: a token is valid until it expires or the key changes.
 */
export class ShareTokens {
  readonly #key: Key
  readonly #clock: Clock

  /** Takes the key. Without one, it generates a key, and its tokens are valid for as long as this object exists. */
  constructor(clock: Clock, key: string | undefined) {
    this.#clock = clock
    this.#key = key ?? randomBytes(32)
  }

  /** Creates a token that shows an agent and its descendants, and nothing else. */
  mint({ agentId, metadata, expiresAt }: Share): string {
    const claims = { a: agentId, ...(metadata === undefined ? {} : { m: metadata }), e: expiresAt }
    return `${prefix}${keyedText(this.#key, purpose, claims)}`
  }

  /** Reads a token, even one that has expired; `undefined` if this server did not create it. */
  read(token: string): Share | undefined {
    const claims = keyedValue(this.#key, purpose, token.slice(prefix.length))
    if (claims === undefined) return undefined
    const { a: agentId, m: metadata, e: expiresAt } = claimsSchema().parse(claims)
    return { agentId, metadata, expiresAt }
  }

  /** Returns the grant of a token; `undefined` if it has expired or is invalid. */
  grantOf(token: string): Grant | undefined {
    const share = this.read(token)
    if (share === undefined || this.isOver(share)) return undefined
    const { agentId, metadata } = share
    return { role: 'observe', agents: [agentId], ...(metadata === undefined ? {} : { metadata }) }
  }

  isOver({ expiresAt }: Share): boolean {
    return this.#clock.now() >= expiresAt
  }
}
