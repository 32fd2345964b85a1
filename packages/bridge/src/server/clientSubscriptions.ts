import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ServerFrame } from '../../../wire/src/frames.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { Reach } from './roles.ts'
import type { Bridge } from './bridge.ts'
import type { Feed } from './feed.ts'
import type { Outbox } from './outbox.ts'
import type { RosterWatcher } from './roster.ts'
import { Subscription, type Wanted } from './subscription.ts'
import type { View } from './visible.ts'

interface SubscribingClient {
  readonly reach: Reach
  readonly view: View
  /** Returns a running agent, unless it is hidden from the client. */
  find(agentId: string): Agent | undefined
  /** Maximum number of subscriptions of the client. */
  readonly most: number
  isOpen(): boolean
  /** Called when a log cannot be read. */
  fail(thrown: unknown): void
}

/** Subscriptions of one client on its socket: feeds of agents, and the roster. */
export class ClientSubscriptions implements RosterWatcher {
  readonly #bridge: Bridge
  readonly #outbox: Outbox
  readonly #client: SubscribingClient
  readonly #subscriptions = new Map<string, Subscription>()

  constructor(bridge: Bridge, outbox: Outbox, client: SubscribingClient) {
    this.#bridge = bridge
    this.#outbox = outbox
    this.#client = client
  }

  get reach(): Reach {
    return this.#client.reach
  }

  get view(): View {
    return this.#client.view
  }

  get isFull(): boolean {
    return this.#outbox.isFull
  }

  send(frame: ServerFrame): void {
    this.#outbox.send(JSON.stringify(frame))
  }

  /** Subscribes the client. @throws RuntimeError `BRIDGE_LIMIT`, `INVALID_OPTION` for a record that does not exist yet */
  subscribe(feed: Feed, wanted: Wanted, view: View): void {
    const { agentId } = feed
    // The client left while the agent was looked for.
    if (!this.#client.isOpen()) return this.#bridge.releaseFeed(agentId)
    this.#end(agentId)
    const refusal = this.#refusalOf(feed, wanted)
    if (refusal !== undefined) {
      this.#bridge.releaseFeed(agentId)
      throw refusal
    }
    const { clock } = this.#bridge
    const store = this.#bridge.logOf(agentId, this.#client.find)
    const fail = (thrown: unknown): void => this.#client.fail(thrown)
    const parts = { feed, store, clock, outbox: this.#outbox, wanted, view, fail }
    this.#subscriptions.set(agentId, new Subscription(parts))
  }

  unsubscribe(agentId: string): void {
    this.#end(agentId)
    this.#bridge.releaseFeed(agentId)
  }

  watchRoster(): void {
    if (this.#client.isOpen()) this.#bridge.roster.watch(this)
  }

  unwatchRoster(): void {
    this.#bridge.roster.unwatch(this)
  }

  /** Ends all subscriptions of a client that has left. */
  close(): void {
    this.unwatchRoster()
    for (const agentId of this.#subscriptions.keys()) this.unsubscribe(agentId)
  }

  #end(agentId: string): void {
    this.#subscriptions.get(agentId)?.close()
    this.#subscriptions.delete(agentId)
  }

  #refusalOf({ agentId, lastSeq }: Feed, { fromSeq }: Wanted): RuntimeError | undefined {
    const { size } = this.#subscriptions
    if (size >= this.#client.most)
      return new RuntimeError('BRIDGE_LIMIT', `${size} subscriptions are the most allowed.`)
    if (fromSeq <= lastSeq + 1) return undefined
    const what = `fromSeq is ${fromSeq}, but the log of agent "${agentId}" ends with ${lastSeq}.`
    return new RuntimeError('INVALID_OPTION', what)
  }
}
