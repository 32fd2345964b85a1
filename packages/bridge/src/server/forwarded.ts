import { z } from 'zod'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { rightsOf } from '../../../wire/src/rights.ts'
import { rightSchema } from '../../../wire/src/rightsSchema.ts'
import { agentIdSchema } from '../../../../src/protocol/ids.ts'
import { metadataSchema } from '../../../../src/protocol/metadata.ts'
import { keyedHash, keyedText, keyedValue } from './keyed.ts'
import type { Grant } from './roles.ts'
import { placeOf } from './workerPlace.ts'

/** Minimum length of `gatewaySecret`, in characters. */
export const minSecretLength = 32

const prefix = 'gateway.'
const purpose = 'gateway client'

/** Validity of a token for a worker, in milliseconds. The clocks of two machines may differ by half of it. */
const heldMs = 2 * 60_000

/** Returns true if a token claims to be a gateway's. No other authentication is tried for it. */
export const isForwardedToken = (token: string | undefined): token is string => token?.startsWith(prefix) === true

/** A client's session. `isProven`: proven by a key of its own. `isPassing`: it ends with the connection. */
export interface ForwardedSession {
  readonly id: string
  readonly isProven: boolean
  readonly isPassing?: boolean
}

/** A client as admitted by a gateway. */
export interface Forwarded {
  /** Rights of the client. Its agents are listed by id, or the gateway checks them itself; `owner` distinguishes the client from others. */
  readonly grant: Grant & { readonly agents?: readonly string[] }
  /** Owner whose limits apply to the client's sessions. */
  readonly owner: string | undefined
  /** Session of the client; `undefined` for a single request. */
  readonly session: ForwardedSession | undefined
}

/** Reason to refuse a token: it was made with another secret, is for another worker, or is too old. */
export type Refused = { readonly why: 'unknown' | 'old' } | { readonly why: 'elsewhere'; readonly place: string }

const claimsSchema = lazily(() =>
  onlyFields({
    r: z.array(rightSchema()),
    a: z.array(agentIdSchema()).exactOptional(),
    m: metadataSchema().exactOptional(),
    o: z.string().exactOptional(),
    s: z.string().max(256).exactOptional(),
    p: z.union([z.literal(1), z.literal(2)]).exactOptional(),
    n: z.literal(1).exactOptional(),
    w: z.string(),
    e: z.int().positive(),
  }),
)

/**
 * Tokens with which a gateway describes a client to a worker: `gateway.<claims>.<hash>`, keyed by the secret that they share. The secret itself is
 * never sent. A token is valid for one worker and for two minutes, so a copy is of no use with another worker or later.
 */
export class ForwardedTokens {
  readonly #secret: string
  readonly #now: () => number

  /** Takes `now`, by default the time of day, on which two machines agree even if their runtimes' clocks differ. */
  constructor(secret: string, now: () => number = systemClock.now) {
    this.#secret = secret
    this.#now = now
  }

  /** Creates a token. `worker` is the address of the worker's bridge. */
  mint({ grant, owner, session }: Forwarded, worker: string): string {
    const claims: z.output<ReturnType<typeof claimsSchema>> = {
      r: [...rightsOf(grant)],
      ...(grant.agents === undefined ? {} : { a: [...grant.agents] }),
      ...(grant.metadata === undefined ? {} : { m: grant.metadata }),
      ...(grant.owner === undefined ? {} : { n: 1 as const }),
      ...(owner === undefined ? {} : { o: keyedHash(this.#secret, 'gateway owner', owner).toString('base64url') }),
      ...(session === undefined ? {} : { s: session.id }),
      ...(session?.isProven === true ? { p: 1 } : session?.isPassing === true ? { p: 2 } : {}),
      w: placeOf(worker),
      e: this.#now() + heldMs,
    }
    return `${prefix}${keyedText(this.#secret, purpose, claims)}`
  }

  /** Reads and checks a token. `isHere` returns true if a place is this worker's. */
  read(token: string, isHere: (place: string) => boolean): Forwarded | Refused {
    const claims = claimsSchema().safeParse(keyedValue(this.#secret, purpose, token.slice(prefix.length)))
    if (!claims.success) return { why: 'unknown' }
    const { r, a, m, o, s, p, n, w, e } = claims.data
    if (!isHere(w)) return { why: 'elsewhere', place: w }
    if (Math.abs(e - heldMs - this.#now()) > heldMs) return { why: 'old' }
    return {
      grant: {
        may: r,
        ...(a === undefined ? {} : { agents: a }),
        ...(m === undefined ? {} : { metadata: m }),
        ...(n === undefined || o === undefined ? {} : { owner: o }),
      },
      owner: o,
      session: s === undefined ? undefined : { id: s, isProven: p === 1, isPassing: p === 2 },
    }
  }
}
