import type { Command } from '../../../bridge/src/server/front.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { errorInfo } from '../../../../src/protocol/errors.ts'
import { listedIn, pageSize, type Listed, type WorkerFrame } from './workerFrames.ts'
import { workerName } from './workerNames.ts'

/** Interval between searches for new workers while a client watches, and time limit for a worker's answer, in milliseconds. */
const lookMs = 1_000
const answerMs = 5_000
/** Maximum number of agents listed from one worker, and sent to a watching client, and time limit for a worker's list, in milliseconds. */
const mostListed = 100_000
const mostSeen = 200_000
const listMs = 30_000

type List = Extract<Command, { type: 'agent.list' | 'agent.watch' | 'agent.unwatch' }>
interface Parts {
  workers(): Promise<readonly string[]>
  readonly clock: Clock
  /** Sends a worker a question; returns its id. */
  ask(url: string, frame: object): string
  /** Sends the client a frame. */
  send(frame: object): void
  /** True if the client is told which worker has an agent. */
  readonly isNamed: boolean
  /** Returns true if the client may reach an agent. Workers apply limits to ids of agents, but not functions. */
  isWithin(agent: Listed): boolean
}

/** Running agents of all workers, as one client may see them. */
export class FleetLists {
  readonly #parts: Parts
  readonly #waiting = new Map<string, (frame: WorkerFrame | undefined) => void>()
  /** Agents that a watching client was told of, by id, with the address of the worker that has each and the `seq` of its last record. */
  readonly #seen = new Map<string, { readonly url: string; readonly seq: number }>()
  #watched: Set<string> | undefined
  #isClosed = false
  #cancel: () => void = () => {}

  constructor(parts: Parts) {
    this.#parts = parts
  }

  take(command: List): void {
    if (command.type === 'agent.list') void this.#list(command)
    else {
      this.#stop()
      if (command.type === 'agent.watch') void this.#watch(new Set())
      this.#parts.send({ type: 'ok', id: command.id, result: null })
    }
  }

  /** Takes the answer to a question; returns `false` if the question was not asked here. */
  answered(frame: WorkerFrame): boolean {
    const waiting = this.#waiting.get(frame.id ?? '')
    waiting?.(frame)
    return waiting !== undefined
  }

  /** Takes the changes on a worker. */
  heard(url: string, frame: WorkerFrame): void {
    if (this.#watched?.has(url) !== true) return
    const { agents: told = [], gone = [] } = frame as {
      readonly agents?: readonly Listed[]
      readonly gone?: readonly string[]
    }
    // Where several have an agent, the one that wrote last does, and the others do not know yet.
    const agents = told.filter((agent) => {
      const { agentId, seq } = agent
      if (!this.#parts.isWithin(agent)) return false
      const seen = this.#seen.get(agentId)
      if (seen === undefined ? this.#seen.size >= mostSeen : seen.url !== url && seen.seq > seq) return false
      this.#seen.set(agentId, { url, seq })
      return true
    })
    // Another worker may have it by now.
    const left = gone.filter((agentId) => this.#seen.get(agentId)?.url === url)
    for (const agentId of left) this.#seen.delete(agentId)
    if (agents.length + left.length === 0) return
    this.#parts.send({ type: 'agents', agents: this.#named(url, agents), gone: left })
  }

  /** Called when a worker cannot be reached. */
  lost(url: string): void {
    if (this.#watched?.delete(url) !== true) return
    const gone = [...this.#seen].flatMap(([agentId, seen]) => (seen.url === url ? [agentId] : []))
    for (const agentId of gone) this.#seen.delete(agentId)
    if (gone.length > 0) this.#parts.send({ type: 'agents', agents: [], gone })
  }

  /** Stops asking workers. */
  close(): void {
    this.#stop()
    this.#isClosed = true
    for (const settle of this.#waiting.values()) settle(undefined)
  }

  #named(url: string, agents: readonly Listed[]): readonly Listed[] {
    return this.#parts.isNamed ? agents.map((agent) => ({ ...agent, worker: workerName(url) })) : agents
  }

  #stop(): void {
    this.#cancel()
    for (const url of this.#watched ?? []) this.#parts.ask(url, { type: 'agent.unwatch' })
    this.#watched = undefined
    this.#seen.clear()
  }

  async #watch(watched: Set<string>): Promise<void> {
    if (this.#watched === undefined) {
      this.#watched = watched
      // A watcher is told at once what there is, though it be nothing.
      this.#parts.send({ type: 'agents', agents: [], gone: [] })
    }
    for (const url of await this.#parts.workers().catch(() => [])) {
      if (this.#watched !== watched) return
      if (watched.has(url)) continue
      watched.add(url)
      this.#parts.ask(url, { type: 'agent.watch' })
    }
    if (this.#watched === watched) this.#cancel = this.#parts.clock.after(lookMs, () => void this.#watch(watched))
  }

  /** Ids of running agents: all of them while the client watches, else those without a parent. */
  async running(): Promise<ReadonlySet<string>> {
    if (this.#watched !== undefined) return new Set(this.#seen.keys())
    return new Set((await this.#all(undefined)).keys())
  }

  async #all(metadata: object | undefined): Promise<ReadonlyMap<string, Listed>> {
    const urls = await this.#parts.workers().catch(() => [])
    const found = new Map<string, Listed>()
    const pages = urls.map(async (url) => {
      const within = (await this.#of(url, metadata)).filter((agent) => this.#parts.isWithin(agent))
      for (const agent of this.#named(url, within))
        if ((found.get(agent.agentId)?.seq ?? 0) <= agent.seq) found.set(agent.agentId, agent)
    })
    await Promise.all(pages)
    return found
  }

  async #list({ id, metadata, after, limit = 100 }: Extract<List, { type: 'agent.list' }>): Promise<void> {
    const found = await this.#all(metadata)
    const all = [...found.values()].toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1))
    const at = after === undefined ? -1 : all.findIndex(({ agentId }) => agentId === after)
    if (at === -1 && after !== undefined) {
      const error = errorInfo('INVALID_OPTION', `agent.list: after: "${after}" is none of them.`)
      return this.#parts.send({ type: 'error', id, ...error })
    }
    const agents = all.slice(at + 1, at + 1 + limit)
    this.#parts.send({ type: 'ok', id, result: { agents, total: all.length } })
  }

  /**
   * Agents that run on one worker: none if it does not answer. It stops asking for further pages after `mostListed` agents, or when the
   * time is up.
   */
  async #of(url: string, metadata: object | undefined): Promise<readonly Listed[]> {
    const all: Listed[] = []
    const until = this.#parts.clock.now() + listMs
    for (;;) {
      const after = all.at(-1)?.agentId
      const frame = await this.#answer(url, {
        type: 'agent.list',
        limit: pageSize,
        ...(metadata === undefined ? {} : { metadata }),
        ...(after === undefined ? {} : { after }),
      })
      const agents = frame === undefined ? [] : (listedIn(frame) ?? [])
      all.push(...agents)
      const isOver = agents.length < pageSize || all.length >= mostListed || this.#parts.clock.now() >= until
      if (isOver) return all
    }
  }

  #answer(url: string, frame: object): Promise<WorkerFrame | undefined> {
    // The client may have left while the directory was read.
    if (this.#isClosed) return Promise.resolve(undefined)
    const { promise, resolve } = Promise.withResolvers<WorkerFrame | undefined>()
    const id = this.#parts.ask(url, frame)
    this.#waiting.set(id, resolve)
    const cancel = this.#parts.clock.after(answerMs, () => resolve(undefined))
    return promise.finally(() => {
      cancel()
      this.#waiting.delete(id)
    })
  }
}
