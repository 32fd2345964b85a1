import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { eventOf } from '../../../../src/protocol/events.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { isSurelyHere, type Dispatch } from './dispatch.ts'
import type { Feed } from './feed.ts'

/** Interval at which the logs of agents at rest are polled, in milliseconds. */
const pollMs = 200

interface Parts {
  readonly store: Pick<Store, 'read' | 'stat'>
  readonly clock: Clock
  /** Returns the feeds that have readers. */
  feeds(): Iterable<Feed>
  /** Returns an agent that runs in this process, whose feed gets all its events. An unloaded one may have been taken over by another process. */
  agent(agentId: string): { readonly isLoaded: boolean; readonly state: string } | undefined
  readonly dispatch: Dispatch | undefined
}

/**
 * Passes other processes' records to feeds, because an agent at rest in this process may be driven in another
 * one. It polls a few times a second, only while there are readers.
 */
export class FollowedLogs {
  readonly #parts: Parts
  /** Size of each feed's log when it was last read. */
  readonly #sizes = new WeakMap<Feed, number>()
  readonly #reading = new WeakSet<Feed>()
  #cancel: (() => void) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Starts to poll, until there are no feeds. */
  begin(): void {
    this.#cancel ??= this.#parts.clock.after(pollMs, () => {
      this.#cancel = undefined
      let some = false
      for (const feed of this.#parts.feeds()) {
        some = true
        if (this.#isHere(feed)) this.#sizes.delete(feed)
        else void this.#follow(feed)
      }
      if (some) this.begin()
    })
  }

  /** Passes the rest of its log to a feed. Rejects as the store does. */
  async catchUp(feed: Feed): Promise<void> {
    if (!this.#isHere(feed)) await this.#read(feed)
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #isHere({ agentId }: Feed): boolean {
    return isSurelyHere(this.#parts.agent(agentId), this.#parts.dispatch)
  }

  async #follow(feed: Feed): Promise<void> {
    if (this.#reading.has(feed)) return
    this.#reading.add(feed)
    if (this.#parts.agent(feed.agentId) === undefined) feed.rest()
    try {
      const size = await this.#sizeOf(feed)
      if (size === undefined || size !== this.#sizes.get(feed)) await this.#read(feed)
      if (size !== undefined) this.#sizes.set(feed, size)
    } catch {
      // Subscribers that read the log themselves are told; this looks again.
    } finally {
      this.#reading.delete(feed)
    }
  }

  async #sizeOf({ agentId }: Feed): Promise<number | undefined> {
    const { store } = this.#parts
    return store.stat === undefined ? undefined : ((await store.stat(agentId))?.size ?? 0)
  }

  async #read(feed: Feed): Promise<void> {
    const { store } = this.#parts
    for await (const record of store.read(feed.agentId, feed.lastSeq + 1)) {
      if (feed.isClosed || this.#isHere(feed)) return
      feed.follow(eventOf(record, feed))
    }
  }
}
