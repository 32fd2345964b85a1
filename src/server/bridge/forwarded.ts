import { z } from 'zod'
import { systemClock } from '../../protocol/clock.ts'
import { onlyFields } from '../../protocol/onlyFields.ts'
import { lazily } from '../../protocol/lazily.ts'
import { rightsOf } from '../../protocol/rights.ts'
import { rightSchema } from '../../protocol/rightsSchema.ts'
import { agentIdSchema } from '../../protocol/ids.ts'
import { metadataSchema } from '../../protocol/metadata.ts'
import { keyedHash, keyedText, keyedValue } from './keyed.ts'
import type { Grant } from './roles.ts'
import { placeOf } from './workerPlace.ts'

/** The shortest `gatewaySecret`, in characters. */
export const minSecretLength = 32

const prefix = 'gateway.'
const purpose = 'gateway client'

/** How long a worker may be shown a token after it was made, in milliseconds. The clocks of two machines may differ by half of it. */
const heldMs = 2 * 60_000

/** Whether a token says that it is a gateway's: then nobody else is asked about it. */
export const isForwardedToken = (token: string | undefined): token is string => token?.startsWith(prefix) === true

/** The session that a client is in: `isProven`, by a key of its own; `isPassing`: it ends with the connection. */
export interface ForwardedSession {
  readonly id: string
  readonly isProven: boolean
  readonly isPassing?: boolean
}

/** A client as a gateway has let it in. */
export interface Forwarded {
  /** Its rights; its agents are given by ids, or the gateway checks them itself. `owner`: it tells the client from others. */
  readonly grant: Grant & { readonly agents?: readonly string[] }
  /** Whose limits apply to its sessions. */
  readonly owner: string | undefined
  /** The session it is in; none for a single request. */
  readonly session: ForwardedSession | undefined
}

/** Why a token is not taken: another made it, it is for another worker, or it is too old. */
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
 * What a gateway tells a worker of a client, as a token: `gateway.<who it is>.<its hash>`, keyed by the secret that both have. The secret
 * itself is never sent. A token is for one worker, and for two minutes: whoever is shown one can be that client nowhere else, nor later.
 */
export class ForwardedTokens {
  readonly #secret: string
  readonly #now: () => number

  /** `now`: by default the time of day, which two machines agree on whatever the clocks of their runtimes say. */
  constructor(secret: string, now: () => number = systemClock.now) {
    this.#secret = secret
    this.#now = now
  }

  /** `worker`: the address of the worker's bridge. */
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

  /** Who a token says a client is; `isHere`: whether a worker's place is this one's. */
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
