import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { onlyFields } from '../../protocol/onlyFields.ts'
import { lazily } from '../../protocol/lazily.ts'
import { rightSchema, rightsOf } from '../../protocol/rights.ts'
import { agentIdSchema } from '../../protocol/ids.ts'
import { metadataSchema } from '../../protocol/metadata.ts'
import type { Grant } from './roles.ts'

/** The shortest `gatewaySecret`, in characters. */
export const minSecretLength = 32

const prefix = 'gateway.'

/** Whether a token says that it is a gateway's: then nobody else is asked about it. */
export const isForwardedToken = (token: string | undefined): token is string => token?.startsWith(prefix) === true

/** A client as a gateway has let it in. */
export interface Forwarded {
  /** What it may do; its agents are given by ids, or the gateway checks them itself. `owner`: it tells the client from others. */
  readonly grant: Grant & { readonly agents?: readonly string[] }
  /** Whose limits apply to its sessions. */
  readonly owner: string | undefined
  /** The session it is in; none for a single request. */
  readonly session: { readonly id: string; readonly isProven: boolean } | undefined
}

const claimsSchema = lazily(() =>
  onlyFields({
    r: z.array(rightSchema()),
    a: z.array(agentIdSchema()).exactOptional(),
    m: metadataSchema().exactOptional(),
    o: z.string().exactOptional(),
    s: z.string().max(256).exactOptional(),
    p: z.literal(1).exactOptional(),
    n: z.literal(1).exactOptional(),
  }),
)

/**
 * What a gateway tells a worker of a client, as a token: `gateway.<who it is>.<its hash>`, keyed by the secret that both have. The secret
 * itself is never sent.
 */
export class ForwardedTokens {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  mint({ grant, owner, session }: Forwarded): string {
    const claims: z.output<ReturnType<typeof claimsSchema>> = {
      r: [...rightsOf(grant)],
      ...(grant.agents === undefined ? {} : { a: [...grant.agents] }),
      ...(grant.metadata === undefined ? {} : { m: grant.metadata }),
      ...(grant.owner === undefined ? {} : { n: 1 as const }),
      ...(owner === undefined ? {} : { o: this.#hashOf(`owner\n${owner}`).toString('base64url') }),
      ...(session === undefined ? {} : { s: session.id }),
      ...(session?.isProven === true ? { p: 1 } : {}),
    }
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
    return `${prefix}${body}.${this.#hashOf(`client\n${body}`).toString('base64url')}`
  }

  /** Who a token says a client is; `undefined`: no gateway with this secret made it. */
  read(token: string): Forwarded | undefined {
    const [body = '', hash = '', ...others] = token.slice(prefix.length).split('.')
    const given = Buffer.from(hash, 'base64url')
    const own = this.#hashOf(`client\n${body}`)
    if (others.length > 0 || given.length !== own.length || !timingSafeEqual(given, own)) return undefined
    const { r, a, m, o, s, p, n } = claimsSchema().parse(JSON.parse(Buffer.from(body, 'base64url').toString()))
    return {
      grant: {
        may: r,
        ...(a === undefined ? {} : { agents: a }),
        ...(m === undefined ? {} : { metadata: m }),
        ...(n === undefined || o === undefined ? {} : { owner: o }),
      },
      owner: o,
      session: s === undefined ? undefined : { id: s, isProven: p === 1 },
    }
  }

  #hashOf(text: string): Buffer {
    return createHmac('sha256', this.#secret).update(`escapement gateway ${text}`).digest()
  }
}
