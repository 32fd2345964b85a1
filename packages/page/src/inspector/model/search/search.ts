import { computed, signal, type ReadonlySignal } from '@preact/signals'
import type { Client } from '../../../../../bridge/src/client/index.ts'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import type { AgentViewState } from '../agent/agentView.ts'
import { noMarks, type HitMarks } from './hitMarks.ts'
import { childIn, LogSearch, type Hit } from './logSearch.ts'
import { readUpTo } from './readUpTo.ts'
import { asksAnything, readQuery, type SearchQuery } from './searchQuery.ts'

/** Limits of a search: characters searched before the page may do something else, and how much of a tree is read. */
export interface SearchLimits {
  readonly sliceChars: number
  readonly agents: number
  readonly records: number
  readonly hits: number
}

const usual: SearchLimits = { sliceChars: 250_000, agents: 1_000, records: 500_000, hits: 10_000 }

/** Progress of a search. */
export interface SearchProgress {
  readonly isBusy: boolean
  /** Number of logs below the agent that were read, and that are known; 0 of 0 if only the agent is searched. */
  readonly read: number
  readonly known: number
  /** Reasons why the result is not complete: it was stopped, has reached its limit of agents, records or hits, or some logs could not be read. */
  readonly left: readonly string[]
}

const atRest: SearchProgress = { isBusy: false, read: 0, known: 0, left: [] }

export interface SearchOptions {
  readonly clock: Clock
  readonly limits?: Partial<SearchLimits>
}

/**
 * Searches the log of an agent as it grows and, if the query says so, once the logs of its tree, which it reads. It works in slices, so
 * that the page stays responsive. Close it.
 */
export class Search {
  readonly hits = signal<readonly Hit[]>([])
  /** Index of the hit that was shown last; -1 if none was. */
  readonly at = signal(-1)
  readonly progress = signal<SearchProgress>(atRest)
  readonly query = signal<SearchQuery>(readQuery(''))
  readonly #clock: Clock
  readonly #limits: SearchLimits
  #client: Client | undefined
  #work: AbortController | undefined
  #own: { readonly state: () => AgentViewState; searches: readonly OwnSearch[] } | undefined
  #typed: string | undefined
  #tree: readonly string[] = []
  #below: Hit[] = []
  #isAwake = false

  constructor({ clock, limits = {} }: SearchOptions) {
    this.#clock = clock
    this.#limits = { ...usual, ...limits }
  }

  /** Returns the marks of the matches in an agent. */
  marks(agentId: string): ReadonlySignal<HitMarks> {
    return computed(() => {
      const own = this.hits.value.filter((hit) => hit.agentId === agentId)
      if (own.length === 0) return noMarks
      return {
        nodes: new Set(own.flatMap(({ node }) => (node === null ? [] : [node]))),
        records: new Set(own.flatMap(({ seq, isShared }) => (isShared ? [] : [seq]))),
      }
    })
  }

  /**
   * Searches for a query. Going to another agent of the searched tree changes nothing. Anything else starts over.
   * `state` returns the current state of the agent that is shown.
   */
  look(typed: string, { client, state }: { readonly client: Client; readonly state: () => AgentViewState }): void {
    const { agentId } = state()
    if (typed === this.#typed && client === this.#client && this.#tree.includes(agentId)) return
    this.stop()
    const query = readQuery(typed)
    this.#typed = typed
    this.#client = client
    this.#below = []
    this.#tree = [agentId]
    this.query.value = query
    this.at.value = -1
    this.hits.value = []
    this.progress.value = atRest
    this.#own = undefined
    if (!asksAnything(query)) return
    const searches = partsOf(state()).map((part) => new OwnSearch(query, agentId, part))
    this.#own = { state, searches: [...searches, new OwnSearch(query, agentId, undefined)] }
    this.#work = new AbortController()
    this.#wake()
    if (query.agents !== 'own') void this.#readTree(client, query, this.#work.signal)
  }

  /** Continues the search after the log of the agent has grown. */
  grew(): void {
    if (this.#own !== undefined && this.#own.state().agentId === this.#tree[0]) this.#wake()
  }

  /** Goes to one of the hits. */
  goTo(hit: Hit): void {
    this.at.value = this.hits.value.indexOf(hit)
  }

  /** Stops the search and keeps its matches. Idempotent. */
  stop(): void {
    const wasBusy = this.progress.value.isBusy
    this.#work?.abort(new Error('the search was stopped'))
    this.#work = undefined
    if (wasBusy) this.#told({ isBusy: false, left: ['it was stopped'] })
  }

  /** Forgets the search and its matches. Idempotent. */
  close(): void {
    this.stop()
    this.#own = undefined
    this.#typed = undefined
    this.hits.value = []
    this.at.value = -1
    this.progress.value = atRest
  }

  #wake(): void {
    if (this.#isAwake || this.#work === undefined) return
    this.#isAwake = true
    this.#clock.after(0, () => {
      this.#isAwake = false
      this.#slice()
    })
  }

  /** Looks at the next part of the agent's own log. */
  #slice(): void {
    const own = this.#own
    if (own === undefined || this.#work === undefined) return
    const { sliceChars } = this.#limits
    const open = own.searches.find((search) => !search.look(own.state(), sliceChars))
    this.#show()
    if (open !== undefined) this.#wake()
  }

  #show(): void {
    const all = [...(this.#own?.searches ?? []).flatMap(({ hits }) => hits), ...this.#below]
    const chosen = this.hits.value[this.at.value]
    const most = this.#limits.hits
    if (all.length === this.hits.value.length) return
    this.hits.value = all.length > most ? all.slice(0, most) : all
    // More of the agent's own may have come before it.
    if (chosen !== undefined) this.at.value = all.indexOf(chosen)
    if (all.length > most) this.#leave(`only the first ${most} matches are kept`)
  }

  #told(change: Partial<SearchProgress>): void {
    this.progress.value = { ...this.progress.value, ...change }
  }

  #leave(why: string): void {
    const { left } = this.progress.value
    if (!left.includes(why)) this.#told({ left: [...left, why] })
  }

  async #readTree(client: Client, query: SearchQuery, stopped: AbortSignal): Promise<void> {
    const { agentId, records } = this.#own!.state()
    const root = rootOf(records) ?? agentId
    const waiting = [root]
    const known = new Set(waiting)
    let read = 0
    let recordCount = 0
    this.#told({ isBusy: true, read: 0, known: 1 })
    while (waiting.length > 0 && !stopped.aborted) {
      if (read >= this.#limits.agents) this.#leave(`only ${this.#limits.agents} agents are searched`)
      if (recordCount >= this.#limits.records) this.#leave(`only ${this.#limits.records} records are searched`)
      if (
        read >= this.#limits.agents ||
        recordCount >= this.#limits.records ||
        this.hits.value.length >= this.#limits.hits
      )
        break
      const id = waiting.shift()!
      const log = await this.#readLog(client, id, stopped)
      if (stopped.aborted) return
      const children = log.map(childIn).filter((child): child is string => child !== undefined && !known.has(child))
      for (const child of children) known.add(child)
      // What an agent started comes before what its siblings did.
      waiting.unshift(...new Set(children))
      this.#tree = [...known]
      recordCount += log.length
      const isWanted = id !== agentId && (query.agents === 'tree' || query.agents.includes(id))
      if (isWanted) await this.#searchLog(new LogSearch(query, { agentId: id }), log, stopped)
      if (stopped.aborted) return
      read += 1
      this.#told({ read, known: known.size })
    }
    this.#told({ isBusy: false })
  }

  async #readLog(client: Client, id: string, stopped: AbortSignal): Promise<readonly LogRecord[]> {
    const state = this.#own!.state()
    if (id === state.agentId) return state.records
    try {
      const { seq } = await client.agent(id).snapshot()
      return stopped.aborted || seq === 0 ? [] : await readUpTo(client, id, seq, stopped)
    } catch (thrown) {
      if (!stopped.aborted) this.#leave(`${id} could not be read: ${(thrown as Error).message}`)
      return []
    }
  }

  async #searchLog(search: LogSearch, log: readonly LogRecord[], stopped: AbortSignal): Promise<void> {
    for (let isDone = false; !isDone && !stopped.aborted;) {
      isDone = search.look(log, log.length, this.#limits.sliceChars)
      if (!isDone) await new Promise<void>((resolve) => void this.#clock.after(0, resolve))
    }
    if (stopped.aborted || search.hits.length === 0) return
    this.#below.push(...search.hits)
    this.#show()
  }
}

/** Search of the agent's log, or of a part that it shares with its source. */
class OwnSearch {
  readonly #search: LogSearch
  readonly #part: readonly LogRecord[] | undefined

  constructor(query: SearchQuery, agentId: string, part: readonly LogRecord[] | undefined) {
    this.#search = new LogSearch(query, { agentId, isShared: part !== undefined })
    this.#part = part
  }

  get hits(): readonly Hit[] {
    return this.#search.hits
  }

  look({ records, at, lastSeq }: AgentViewState, mostChars: number): boolean {
    if (this.#part !== undefined) return this.#search.look(this.#part, this.#part.length, mostChars)
    return this.#search.look(records, at ?? lastSeq, mostChars)
  }
}

const partsOf = ({ past }: AgentViewState): readonly (readonly LogRecord[])[] => past

/** Returns the id of the agent at the top of the tree. */
function rootOf([created]: readonly LogRecord[]): string | undefined {
  return created?.type === 'agent.created' ? created.path[0] : undefined
}
