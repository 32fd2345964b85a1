import { signal } from '@preact/signals'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import type { Client } from '../../../../../bridge/src/client/index.ts'
import { toErrorInfo, type ErrorInfo } from '../../../../../../src/protocol/errors.ts'
import type { AgentSummary, SessionEntry } from '../../../../../wire/src/frames.ts'
import type { FrameBatch } from '../agent/frameBatch.ts'

const pageSize = 100
/** Delay in milliseconds after an agent's end before sessions are read again, for which the server reads every log. */
const settleMs = 1_000
/** Limit of the sub-agents that are kept in the list after they have gone. */
const mostLeft = 2_000

/** Lists of the running agents and of the sessions, as signals. */
export class Directory {
  /** Agents that run, by id; a new map with every change. */
  readonly agents = signal<ReadonlyMap<string, AgentSummary>>(new Map())
  /** True once the server has sent the list of running agents. */
  readonly isKnown = signal(false)
  /** Sessions of agents that did not run when they were read, the one written last first; `null` until then. */
  readonly sessions = signal<readonly SessionEntry[] | null>(null)
  /** Number of all sessions, those not read yet included. */
  readonly sessionTotal = signal(0)
  readonly error = signal<ErrorInfo | null>(null)
  /** Agents that have gone since the sessions were read: the entries of their sessions are out of date. */
  readonly settling = signal<ReadonlySet<string>>(new Set())
  /** Last summaries of sub-agents that ran since the page was opened and have gone, up to `mostLeft`; a new map with every change. */
  readonly left = signal<ReadonlyMap<string, AgentSummary>>(new Map())
  /** Counter that changes whenever an agent that is no sub-agent comes or goes. */
  readonly roots = signal(0)
  readonly #client: Client
  readonly #known = new Map<string, AgentSummary>()
  readonly #gone = new Set<string>()
  readonly #left = new Map<string, AgentSummary>()
  readonly #batch: FrameBatch
  readonly #clock: Clock
  readonly #unwatch: () => void
  #cancelRead: (() => void) | undefined
  readonly #publish = (): void => {
    this.agents.value = new Map(this.#known)
    this.isKnown.value = true
    if (this.#gone.size > 0) this.settling.value = new Set(this.#gone)
    if (this.#hasLeft) this.left.value = new Map(this.#left)
    this.#hasLeft = false
  }
  #reading: Promise<void> | undefined
  #isStale = false
  #hasLeft = false

  /** Reads sessions only when asked, and after an agent has ended. */
  constructor(client: Client, { batch, clock }: { readonly batch: FrameBatch; readonly clock: Clock }) {
    this.#client = client
    this.#batch = batch
    this.#clock = clock
    this.#unwatch = client.watch(({ agents, gone }) => {
      for (const id of gone) this.#leave(id)
      for (const agent of agents) this.#come(agent)
      batch.add(this.#publish)
      if (gone.length > 0) this.#readLater()
    })
  }

  /** Reads the first page of sessions again, or, while a reading is under way, once more after it. Never rejects. */
  readSessions(): Promise<void> {
    this.#isStale = this.#reading !== undefined
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
      if (this.#isStale) void this.readSessions()
    })
    return this.#reading
  }

  /** Reads the next page of sessions. Never rejects. */
  async readMore(): Promise<void> {
    const known = this.sessions.value ?? []
    const after = known.at(-1)?.agentId
    if (after === undefined) return this.readSessions()
    await this.#try(async () => {
      const { sessions, total } = await this.#client.sessions({ after, limit: pageSize, running: false })
      this.sessions.value = [...known, ...sessions]
      this.sessionTotal.value = total
    })
  }

  /** Closes the directory. Idempotent. */
  close(): void {
    this.#batch.remove(this.#publish)
    this.#cancelRead?.()
    this.#unwatch()
  }

  #come(agent: AgentSummary): void {
    if (agent.path.length === 0 && !this.#known.has(agent.agentId)) this.roots.value += 1
    this.#known.set(agent.agentId, agent)
    if (this.#left.delete(agent.agentId)) this.#hasLeft = true
  }

  #leave(id: string): void {
    this.#gone.add(id)
    const agent = this.#known.get(id)
    this.#known.delete(id)
    if (agent?.path.length === 0) this.roots.value += 1
    if (agent === undefined || agent.path.length === 0) return
    this.#left.set(id, { ...agent, state: 'closed' })
    this.#hasLeft = true
    if (this.#left.size <= mostLeft) return
    const [oldest] = this.#left.keys()
    this.#left.delete(oldest!)
  }

  /** Reads the sessions once after a delay, so that many agents that end cause one reading. */
  #readLater(): void {
    this.#cancelRead ??= this.#clock.after(settleMs, () => {
      this.#cancelRead = undefined
      void this.readSessions()
    })
  }

  #read(): Promise<void> {
    return this.#try(async () => {
      const limit = Math.min(1_000, Math.max(pageSize, this.sessions.value?.length ?? 0))
      const before = [...this.#gone]
      const { sessions, total } = await this.#client.sessions({ limit, running: false })
      this.sessions.value = sessions
      this.sessionTotal.value = total
      for (const id of before) this.#gone.delete(id)
      this.settling.value = new Set(this.#gone)
    })
  }

  async #try(read: () => Promise<void>): Promise<void> {
    try {
      await read()
      this.error.value = null
    } catch (thrown) {
      this.error.value = toErrorInfo(thrown, 'INTERNAL')
    }
  }
}
