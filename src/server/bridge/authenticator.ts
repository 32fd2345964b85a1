import { callbackBugs } from '../../protocol/callbackBugs.ts'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../protocol/clock.ts'
import { describeIssues, messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { Role } from '../../protocol/rights.ts'
import { isForwardedToken, type ForwardedSession, type ForwardedTokens } from './forwarded.ts'
import { isShareToken, type ShareTokens } from './shareTokens.ts'
import { grantOf, grantSchema, identityOf, isSameGrant, isStillGranted, type Grant, type Tokens } from './roles.ts'

/**
 * Decides what a client may do, by its request (headers, cookies) and the token it brought; nothing: it is turned away. It is asked at
 * each connection and again every `limits.pingMs`, so it is to be quick, and may answer from memory. What it throws turns the client
 * away for now.
 */
export type Authenticate = (
  request: IncomingMessage,
  token: string | undefined,
) => Grant | null | undefined | Promise<Grant | null | undefined>

/** What a client may do, as long as it may. */
export interface Permit {
  readonly grant: Grant
  /** Whose limits apply to its sessions; `undefined`: all clients are equal. */
  readonly owner: string | undefined
  /** Nothing says who it is, only what it may do: others may have the same owner. */
  readonly isUnnamed?: boolean
  /** When it may no longer, in epoch milliseconds; `undefined`: that is not known. */
  readonly expiresAt?: number | undefined
  /** The session in which a gateway has it. */
  readonly session?: ForwardedSession | undefined
  /** Whether it may still do the same. */
  isGranted(): boolean
}

/** Whether a token is one that servers make: no other is asked about it. */
const isMadeToken = (token: string | undefined): boolean => isShareToken(token) || isForwardedToken(token)

/** Who the application says that a client is. */
const ownerOf = ({ owner }: Grant): string | undefined => (owner === undefined ? undefined : `owner ${owner}`)

/** Without an owner, whoever brings the same cookies and is told apart by metadata; of any other nothing says who it is. */
function namedBy(grant: Grant, { headers: { cookie = '' } }: IncomingMessage): Pick<Permit, 'owner' | 'isUnnamed'> {
  const isTold = cookie !== '' && Object.keys(grant.metadata ?? {}).length > 0
  return {
    owner: ownerOf(grant) ?? `${identityOf(grant)} ${cookie}`,
    isUnnamed: grant.owner === undefined && !isTold,
  }
}

/** How long the application may take to decide, in milliseconds. */
const decisionMs = 10_000

interface Rules {
  readonly tokens: Tokens | undefined
  readonly authenticate: Authenticate | undefined
  /** What everyone may do where neither of them is given. */
  readonly role: Role
  readonly shares: ShareTokens
  /** Of gateways that may say who a client is. */
  readonly forwarded: ForwardedTokens | undefined
  /** Tells whether this server is at a place by which a gateway knows it. */
  isHere(place: string): boolean
  readonly clock: Clock
  /** Tells the operator that the application could not decide. */
  failed(message: string): void
}

/** Decides what clients may do: by the server's tokens, then by the application's function. */
export class Authenticator {
  readonly #rules: Rules

  constructor(rules: Rules) {
    this.#rules = rules
  }

  /** Whether clients have to show who they are. */
  get isGuarded(): boolean {
    const { tokens, authenticate, forwarded } = this.#rules
    return tokens !== undefined || authenticate !== undefined || forwarded !== undefined
  }

  /** What a token of `tokens` allows; without a guard, what everyone may do. */
  permitOf(token: string | undefined): Permit | undefined {
    if (isForwardedToken(token)) return this.#forwarded(token)
    const find = (): Grant | undefined => this.#grantOf(token)
    const grant = find()
    if (grant === undefined) return undefined
    const isGranted = (): boolean => isSameGrant(find(), grant)
    if (!isShareToken(token)) return { grant, owner: this.isGuarded ? (ownerOf(grant) ?? token) : undefined, isGranted }
    return { grant, owner: token, expiresAt: this.#rules.shares.read(token)?.expiresAt, isGranted }
  }

  /** Whether a token is one of a link that has expired. */
  hasExpired(token: string | undefined): boolean {
    const { shares } = this.#rules
    const share = isShareToken(token) ? shares.read(token) : undefined
    return share !== undefined && shares.isOver(share)
  }

  /**
   * What a client may do; `undefined`: nothing. A promise only where the application is asked; that rejects with
   * `BRIDGE_AUTHENTICATE` when it could not say.
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
    const askAgain = async (): Promise<void> => {
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
      isGranted: () => {
        if (!isAsking) void askAgain()
        return current !== undefined
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
