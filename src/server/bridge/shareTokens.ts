import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { onlyFields } from '../../protocol/onlyFields.ts'
import { lazily } from '../../protocol/lazily.ts'
import type { Clock } from '../../protocol/clock.ts'
import { agentIdSchema } from '../../protocol/ids.ts'
import { metadataSchema, type Metadata } from '../../protocol/metadata.ts'
import { keyedText, keyedValue, type Key } from './keyed.ts'
import type { Grant } from './roles.ts'

/** The shortest `shareKey`, in characters. */
export const minShareKeyLength = 32

const prefix = 'share.'
const purpose = 'share'

/** Whether a token says that it is one of a link: then nobody else is asked about it. */
export const isShareToken = (token: string | undefined): token is string => token?.startsWith(prefix) === true

/** What a link lets see, and until when. */
export interface Share {
  /** The agent, and with it those below it. */
  readonly agentId: string
  /** What agents must have that whoever shares may see. */
  readonly metadata: Metadata | undefined
  /** In epoch milliseconds. */
  readonly expiresAt: number
}

const claimsSchema = lazily(() =>
  onlyFields({ a: agentIdSchema(), m: metadataSchema().exactOptional(), e: z.int().positive() }),
)

/**
 * Tokens of read-only links: `share.<what it lets see>.<its hash>`, keyed by the server. Nothing is stored of them: they hold until they expire, or
 * until the key is another one.
 */
export class ShareTokens {
  readonly #key: Key
  readonly #clock: Clock

  /** Without a key it makes one: its tokens hold as long as it is there. */
  constructor(clock: Clock, key: string | undefined) {
    this.#clock = clock
    this.#key = key ?? randomBytes(32)
  }

  /** A token that lets see an agent and those below it, and nothing else. */
  mint({ agentId, metadata, expiresAt }: Share): string {
    const claims = { a: agentId, ...(metadata === undefined ? {} : { m: metadata }), e: expiresAt }
    return `${prefix}${keyedText(this.#key, purpose, claims)}`
  }

  /** What a token lets see; `undefined`: it is none that this server made. It may have expired. */
  read(token: string): Share | undefined {
    const claims = keyedValue(this.#key, purpose, token.slice(prefix.length))
    if (claims === undefined) return undefined
    const { a: agentId, m: metadata, e: expiresAt } = claimsSchema().parse(claims)
    return { agentId, metadata, expiresAt }
  }

  /** What whoever has a token may do now; `undefined`: nothing. */
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
