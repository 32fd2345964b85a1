import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { rightsOf } from '../../../wire/src/rights.ts'
import type { Permit } from './authenticator.ts'
import type { Connection } from './connections.ts'
import { isShareToken } from './shareTokens.ts'

/** Shares of `limits.connections` for kinds of clients, so that read-only clients never displace those that act. */
const parts = { readers: 3 / 4, links: 1 / 4, link: 1 / 8, linkAddress: 1 / 16 } as const
/** Maximum number of subscriptions per connection of a read-only link, which shows one agent and its descendants. */
const linkSubscriptions = 100
/** Maximum number of HTTP requests that read-only links may make at once, and of further ones per second: from one address, and with one link. */
const requests = { linkAddress: { most: 100, perSecond: 10 }, link: { most: 400, perSecond: 40 } } as const
/** Maximum number of links and addresses whose requests are counted. */
const mostBuckets = 10_000

/** A client that wants to connect. */
type Guest = Pick<Permit, 'grant' | 'owner'>

interface Bucket {
  left: number
  at: number
}

/** Shares of the server's connections, requests and subscriptions for read-only clients. */
export class Room {
  readonly #connections: number
  readonly #clock: Clock
  readonly #taken = new Map<string, number>()
  readonly #takers = new Map<Connection, readonly string[]>()
  readonly #buckets = new Map<string, Bucket>()

  /** Takes `connections`, the maximum number of all connections. */
  constructor(connections: number, clock: Clock) {
    this.#connections = connections
    this.#clock = clock
  }

  /** Returns true if one more client fits into every share to which it belongs. */
  has(guest: Guest, address: string): boolean {
    return this.#sharesOf(guest, address).every(
      ([name, part]) => this.#of(name) < Math.max(1, this.#connections * part),
    )
  }

  /** Counts a connection until it is closed. */
  take(connection: Connection, guest: Guest, address: string): void {
    const names = this.#sharesOf(guest, address).map(([name]) => name)
    if (names.length === 0) return
    this.#takers.set(connection, names)
    for (const name of names) this.#taken.set(name, this.#of(name) + 1)
  }

  release(connection: Connection): void {
    for (const name of this.#takers.get(connection) ?? []) {
      const left = this.#of(name) - 1
      if (left > 0) this.#taken.set(name, left)
      else this.#taken.delete(name)
    }
    this.#takers.delete(connection)
  }

  /** Returns true if a request may be answered. Requests of a read-only link are counted. */
  mayAsk({ owner }: Guest, address: string): boolean {
    if (!isShareToken(owner)) return true
    return this.#draw(`address ${address}`, requests.linkAddress) && this.#draw(owner, requests.link)
  }

  #of(name: string): number {
    return this.#taken.get(name) ?? 0
  }

  #sharesOf({ grant, owner }: Guest, address: string): (readonly [name: string, part: number])[] {
    const rights = rightsOf(grant)
    const acts = rights.has('talk') || rights.has('control') || rights.has('approve') || rights.has('spawn')
    const reader = acts ? [] : [['readers', parts.readers] as const]
    if (!isShareToken(owner)) return reader
    return [...reader, ['links', parts.links], [`link ${owner}`, parts.link], [`address ${address}`, parts.linkAddress]]
  }

  #draw(name: string, { most, perSecond }: { readonly most: number; readonly perSecond: number }): boolean {
    const now = this.#clock.now()
    const { left, at } = this.#buckets.get(name) ?? { left: most, at: now }
    const filled = Math.min(most, left + (Math.max(0, now - at) / 1_000) * perSecond)
    // The one that asked last is the last to be forgotten.
    this.#buckets.delete(name)
    this.#buckets.set(name, { left: Math.max(0, filled - 1), at: now })
    if (this.#buckets.size > mostBuckets) this.#buckets.delete(this.#buckets.keys().next().value!)
    return filled >= 1
  }
}

/** Returns the maximum number of subscriptions of a connection. */
export const subscriptionsOf = ({ owner }: Pick<Permit, 'owner'>, most: number): number =>
  isShareToken(owner) ? Math.min(most, linkSubscriptions) : most
