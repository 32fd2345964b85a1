import { callbackBugs } from '../../../../src/protocol/callbackBugs.ts'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { describeIssues, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Role } from '../../../wire/src/rights.ts'
import { isForwardedToken, type ForwardedSession, type ForwardedTokens } from './forwarded.ts'
import { isShareToken, type ShareTokens } from './shareTokens.ts'
import { grantOf, grantSchema, identityOf, isSameGrant, isStillGranted, type Grant, type Tokens } from './roles.ts'

/**
 * Decides the rights of a client, by its request (headers, cookies) and its token. `null` or `undefined`
 * rejects the client. It is called at each connection and again every `limits.pingMs`, so it should be quick,
 * and may answer from memory. If it throws, the client is rejected for now.
 */
export type Authenticate = (
  request: IncomingMessage,
  token: string | undefined,
) => Grant | null | undefined | Promise<Grant | null | undefined>

/** Permission of a client, with its duration. */
export interface Permit {
  readonly grant: Grant
  /** Owner whose limits apply to the client's sessions; `undefined`: clients are not told apart. */
  readonly owner: string | undefined
  /** True if nothing identifies the client: other clients may have the same owner. */
  readonly isUnnamed?: boolean
  /** Expiry of the permission in epoch milliseconds; `undefined` if unknown. */
  readonly expiresAt?: number | undefined
  /** Session that the client has at its gateway. */
  readonly session?: ForwardedSession | undefined
  /** Returns true while the client, as far as is known, still has the same rights. */
  isGranted(): boolean
  /** Asks the application again. `isGranted` returns the new answer once it is known. */
  askAgain?(): void
}

/** Returns true while a client still has the same rights, and asks the application again for the next call. */
export function isStillPermitted(permit: Permit): boolean {
  permit.askAgain?.()
  return permit.isGranted()
}

/** Returns true if a server made the token. The application is not asked about such a token. */
const isMadeToken = (token: string | undefined): boolean => isShareToken(token) || isForwardedToken(token)

/** Returns the owner that the application names for a client. */
const ownerOf = ({ owner }: Grant): string | undefined => (owner === undefined ? undefined : `owner ${owner}`)

/**
 * Returns the owner of a client by its grant: the owner that the grant names, else the grant with the client's
 * cookies. Without an owner, a client counts as named only if it has cookies and its grant has metadata.
 */
function namedBy(grant: Grant, { headers: { cookie = '' } }: IncomingMessage): Pick<Permit, 'owner' | 'isUnnamed'> {
  const isTold = cookie !== '' && Object.keys(grant.metadata ?? {}).length > 0
  return {
    owner: ownerOf(grant) ?? `${identityOf(grant)} ${cookie}`,
    isUnnamed: grant.owner === undefined && !isTold,
  }
}

/** Time limit for the application's decision, in milliseconds. */
const decisionMs = 10_000

interface Rules {
  readonly tokens: Tokens | undefined
  readonly authenticate: Authenticate | undefined
  /** Role of every client if neither `tokens` nor `authenticate` is given. */
  readonly role: Role
  readonly shares: ShareTokens
  /** Tokens of gateways, which may name the client. */
  readonly forwarded: ForwardedTokens | undefined
  /** Returns true if a place is one at which a gateway knows this server. */
  isHere(place: string): boolean
  readonly clock: Clock
  /** Reports to the operator that the application could not decide. */
  failed(message: string): void
}

/** Decides the rights of clients: by the server's tokens, then by the application's function. */
export class Authenticator {
  readonly #rules: Rules

  constructor(rules: Rules) {
    this.#rules = rules
  }

  /** True if clients have to authenticate. */
  get isGuarded(): boolean {
    const { tokens, authenticate, forwarded } = this.#rules
    return tokens !== undefined || authenticate !== undefined || forwarded !== undefined
  }

  /** Returns the permit of a token that the server can check by itself. Without a guard, every client has the same permit. */
  permitOf(token: string | undefined): Permit | undefined {
    if (isForwardedToken(token)) return this.#forwarded(token)
    const find = (): Grant | undefined => this.#grantOf(token)
    const grant = find()
    if (grant === undefined) return undefined
    const isGranted = (): boolean => isSameGrant(find(), grant)
    if (!isShareToken(token)) return { grant, owner: this.isGuarded ? (ownerOf(grant) ?? token) : undefined, isGranted }
    return { grant, owner: token, expiresAt: this.#rules.shares.read(token)?.expiresAt, isGranted }
  }

  /** Returns true for the token of a share link that has expired. */
  hasExpired(token: string | undefined): boolean {
    const { shares } = this.#rules
    const share = isShareToken(token) ? shares.read(token) : undefined
    return share !== undefined && shares.isOver(share)
  }

  /**
   * Returns the permit of a client; `undefined` if it has none. Returns a promise only if the application is
   * asked. The promise rejects with `BRIDGE_AUTHENTICATE` if the application could not decide.
   */
  permit(request: IncomingMessage, token: string | undefined): Permit | undefined | Promise<Permit | undefined> {
    const known = this.permitOf(token)
    const { authenticate } = this.#rules
    return known !== undefined || authenticate === undefined || isMadeToken(token) ? known : this.#ask(request, token)
  }

  #forwarded(token: string): Permit | undefined {
    const { forwarded, isHere, failed } = this.#rules
    const client = forwarded?.read(token, (place) => isHere(place))
    if (client === undefined) return undefined
    if (!('why' in client)) return { ...client, isGranted: () => true }
    if (client.why === 'elsewhere')
      failed(
        `A gateway took this server for the one at ${client.place}: if they are the same, give that address as "advertise".`,
      )
    if (client.why === 'old')
      failed('What a gateway said of a client is older than two minutes, or newer than now: set the clocks of both.')
    return undefined
  }

  #grantOf(token: string | undefined): Grant | undefined {
    const { tokens, role, shares } = this.#rules
    if (isShareToken(token)) return shares.grantOf(token)
    if (!this.isGuarded) return { role }
    return token === undefined || tokens === undefined ? undefined : grantOf(tokens, token)
  }

  async #ask(request: IncomingMessage, token: string | undefined): Promise<Permit | undefined> {
    const grant = await this.#decide(request, token)
    if (grant === undefined) return undefined
    let current: Grant | undefined = grant
    let isAsking = false
    const decideAgain = async (): Promise<void> => {
      isAsking = true
      const next = await this.#decide(request, token).catch(() => undefined)
      isAsking = false
      // A function made anew may see what has changed since.
      if (next !== undefined && isStillGranted(next, grant)) Object.assign(grant, next)
      else current = undefined
    }
    return {
      grant,
      ...namedBy(grant, request),
      isGranted: () => current !== undefined,
      askAgain: () => {
        if (!isAsking) void decideAgain()
      },
    }
  }

  /** Asks the application; the grant is a copy. */
  async #decide(request: IncomingMessage, token: string | undefined): Promise<Grant | undefined> {
    const { authenticate, clock, failed } = this.#rules
    const late = Promise.withResolvers<never>()
    const cancel = clock.after(decisionMs, () => late.reject(new Error(`it took more than ${decisionMs} ms`)))
    try {
      const decided = await Promise.race([authenticate!(request, token), late.promise])
      if (decided === null || decided === undefined) return undefined
      const checked = grantSchema().safeParse(decided)
      if (checked.success) return { ...decided }
      throw new Error(
        `it gave something else than { role or may, agents?, metadata?, owner? }: ${describeIssues(checked.error)}`,
      )
    } catch (thrown) {
      callbackBugs.tell('authenticate of serve', thrown)
      failed(`serve: authenticate failed: ${messageOf(thrown)}.`)
      throw new RuntimeError('BRIDGE_AUTHENTICATE', 'The server could not find out who you are.')
    } finally {
      cancel()
    }
  }
}
