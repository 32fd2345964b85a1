import { createHash } from 'node:crypto'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import { isSocketAddress } from '../../../bridge/src/server/serveOptions.ts'
import { DownWorkers } from './downWorkers.ts'
import type { Place, WhoHas } from './gatewayOptions.ts'

/** Time limits for one query of the directory, and for finding an agent, in milliseconds. */
const lookMs = 3_000
const findMs = 10_000
/** Intervals between queries for an agent that is being looked for (at first and later) and for agents that clients follow, in milliseconds. */
const againMs = { first: 100, most: 1_000 } as const
const followMs = 250

/** Location of an agent. */
export interface Whereabouts {
  readonly url: string
  /** True if no process has the agent, so that it has to be woken there. */
  readonly isPlaced: boolean
}

/** Maximum number of workers that a directory may name, and maximum length of a worker's address, in characters. */
const mostWorkers = 1_000
const mostChars = 2_000

/** An agent that is looked for. */
interface Wanted {
  readonly agentId: string
  /** Definition of an agent that is to be spawned; else `undefined`. */
  readonly definition: string | undefined
  /** Time since which the agent's worker could not be reached, in epoch milliseconds. */
  readonly failingSince: number | undefined
}

interface Parts {
  readonly whoHas: WhoHas
  readonly workers: () => Promise<readonly string[]>
  readonly place: Place | undefined
  readonly clock: Clock
  /** Reports to the operator that the directory failed. */
  failed(message: string): void
}

type Moved = (url: string) => void

/** Finds the worker that has an agent, for all clients of a gateway. */
export class AgentFinder {
  readonly down: DownWorkers
  readonly #parts: Parts
  readonly #followed = new Map<string, Set<Moved>>()
  #cancel: (() => void) | undefined
  #isClosed = false
  /** Number of queries to the directory for the holder of an agent. */
  looks = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.down = new DownWorkers(parts.clock)
  }

  /**
   * Resolves with the worker that has an agent, or that is to wake it. Waits until an unreachable worker is replaced, or a new one has announced
   * its address. Rejects with `AGENT_ELSEWHERE`: the process that has it does not serve clients; `AGENT_UNREACHABLE`; the reason of `signal`.
   */
  async find({ agentId, definition, failingSince }: Wanted, signal: AbortSignal): Promise<Whereabouts> {
    const until = (failingSince ?? this.#parts.clock.now()) + findMs
    let why = 'its worker does not let the gateway in, or does not stay'
    let isElsewhere = false
    let waitMs: number = againMs.first
    while (!this.#isClosed && this.#parts.clock.now() < until) {
      signal.throwIfAborted()
      try {
        this.looks += 1
        const holder = await this.#timed(() => this.#parts.whoHas(agentId))
        isElsewhere = holder !== undefined && holder.url === undefined
        if (holder === undefined) {
          const url = await this.#placed(agentId, definition)
          if (url !== undefined) return { url, isPlaced: true }
          why = 'it is at rest, and no worker takes it'
        } else if (holder.url === undefined) why = 'it is in a process that serves nobody'
        else if (!this.#isAddress(holder.url)) why = 'the directory names no address for it'
        else if (this.down.has(holder.url)) why = 'its worker does not answer'
        else return { url: holder.url, isPlaced: false }
      } catch (thrown) {
        isElsewhere = false
        why = 'the directory does not say where it is'
        this.#parts.failed(`The directory failed: ${messageOf(thrown)}.`)
      }
      await pause(waitMs, this.#parts.clock, signal)
      waitMs = Math.min(2 * waitMs, againMs.most)
    }
    if (isElsewhere) throw new RuntimeError('AGENT_ELSEWHERE', `Agent "${agentId}" is in a process that serves nobody.`)
    throw new RuntimeError('AGENT_UNREACHABLE', `Agent "${agentId}" cannot be reached: ${why}.`)
  }

  /** Resolves with a worker for an agent that is in no process. */
  async #placed(agentId: string, definition: string | undefined): Promise<string | undefined> {
    const { place } = this.#parts
    if (place === undefined) return (await this.workers(agentId))[0]
    const url = await this.#timed(async () => place(agentId, { definition }))
    return url === undefined || !this.#isAddress(url) || this.down.has(url) ? undefined : url
  }

  /** Returns true if a value from the directory is an address; writers to the directory may write anything there. */
  #isAddress(url: unknown): url is string {
    if (typeof url === 'string' && url.length <= mostChars && isSocketAddress(url)) return true
    this.#parts.failed(
      `The directory names a worker at what is no address: ${(JSON.stringify(url) ?? '').slice(0, 200)}.`,
    )
    return false
  }

  /** Resolves with the reachable workers, in an order determined by `key`. Rejects as the directory does. */
  async workers(key: string): Promise<readonly string[]> {
    const urls = await this.#timed(() => this.#parts.workers())
    const rank = (url: string): string => createHash('sha256').update(`${key}\n${url}`).digest('hex')
    return [...new Set(urls)]
      .filter((url) => this.#isAddress(url) && !this.down.has(url))
      .slice(0, mostWorkers)
      .map((url) => ({ url, rank: rank(url) }))
      .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
      .map(({ url }) => url)
  }

  /** Calls `moved` with the address of the worker that has an agent, a few times a second; returns a function that stops the calls. */
  follow(agentId: string, moved: Moved): () => void {
    const listeners = this.#followed.get(agentId) ?? new Set()
    this.#followed.set(agentId, listeners)
    listeners.add(moved)
    this.#cancel ??= this.#lookLater()
    return () => {
      listeners.delete(moved)
      if (listeners.size === 0 && this.#followed.get(agentId) === listeners) this.#followed.delete(agentId)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
    this.#followed.clear()
  }

  #lookLater(): () => void {
    return this.#parts.clock.after(followMs, () => {
      void this.#look().finally(() => {
        this.#cancel = this.#isClosed || this.#followed.size === 0 ? undefined : this.#lookLater()
      })
    })
  }

  async #look(): Promise<void> {
    for (const [agentId, listeners] of this.#followed) {
      try {
        this.looks += 1
        const url = (await this.#timed(() => this.#parts.whoHas(agentId)))?.url
        if (url !== undefined && this.#isAddress(url) && !this.down.has(url)) for (const moved of listeners) moved(url)
      } catch (thrown) {
        this.#parts.failed(`The directory failed: ${messageOf(thrown)}.`)
        return
      }
    }
  }

  /** Resolves with the application's answer; rejects if it takes too long. */
  async #timed<T>(work: () => T | Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>()
    const cancel = this.#parts.clock.after(lookMs, () => late.reject(new Error(`it took more than ${lookMs} ms`)))
    try {
      return await Promise.race([Promise.resolve().then(work), late.promise])
    } finally {
      cancel()
    }
  }
}
