import { callListener } from '../../protocol/callbackBugs.ts'
import type { Clock } from '../../protocol/clock.ts'
import { hasCode } from '../../protocol/errors.ts'
import { concernsPeople, isLogged, type AgentEvent } from '../../protocol/events.ts'
import type { Store } from '../../protocol/store.ts'
import { readHistory } from '../../sessions/readHistory.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import { FollowedLog } from './followedLog.ts'

/** How often the logs of an agent that is listened to are looked at, in milliseconds. */
const pollMs = 200

interface Parts {
  readonly store: Store
  readonly clock: Clock
  /** The agent, where it works in this process: what no log has is heard of it. */
  agent(agentId: string): Agent | undefined
}

interface Listener {
  readonly call: (event: AgentEvent) => unknown
  readonly descendants: boolean
}

/**
 * An agent and those below it, wherever they work: by their logs in the store, which are read when something is asked, while it works here
 * whenever something happens, and else a few times a second, as long as somebody listens.
 */
export class FollowedTree {
  readonly root: FollowedLog
  readonly #parts: Parts
  readonly #listeners = new Set<Listener>()
  #reading: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined
  #cancelPoll: (() => void) | undefined
  #heard: Agent | undefined
  #unsubscribe: (() => void) | undefined

  constructor(parts: Parts, agentId: string) {
    this.#parts = parts
    this.root = new FollowedLog(agentId)
  }

  /** Resolves once everything that the store has by now was read, and told to whoever listens. Rejects as the store does. */
  catchUp(): Promise<void> {
    this.#next ??= this.#reading.then(() => {
      this.#next = undefined
      const reading = this.#read()
      this.#reading = reading.catch(() => {})
      return reading
    })
    return this.#next
  }

  /** As `subscribe` of an agent. */
  subscribe(call: Listener['call'], { descendants = false }: { readonly descendants?: boolean } = {}): () => void {
    const listener = { call, descendants }
    this.#listeners.add(listener)
    this.#hear(this.#parts.agent(this.root.agentId))
    this.#pollLater()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.close()
    }
  }

  /** The agent begins to work in this process. */
  began(agent: Agent): void {
    if (this.#listeners.size > 0) this.#hear(agent)
  }

  /** Hears no more. */
  close(): void {
    this.#listeners.clear()
    this.#cancelPoll?.()
    this.#cancelPoll = undefined
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#heard = undefined
  }

  #pollLater(): void {
    this.#cancelPoll ??= this.#parts.clock.after(pollMs, () => {
      this.#cancelPoll = undefined
      if (this.#listeners.size === 0) return
      this.#look()
      this.#pollLater()
    })
  }

  /** A store that fails is looked at again. */
  #look(): void {
    this.catchUp().catch(() => {})
  }

  #hear(agent: Agent | undefined): void {
    if (agent === undefined || agent === this.#heard) return
    this.#unsubscribe?.()
    this.root.forgetHeard()
    this.#heard = agent
    const { growingReply } = agent
    if (growingReply !== undefined && this.root.growing === undefined) this.root.growing = { ...growingReply }
    this.#unsubscribe = agent.subscribe((event) => this.#take(event), { descendants: true })
  }

  #take(event: AgentEvent): void {
    if (event.incognito === true) return
    if (isLogged(event)) {
      const written = this.#heard?.durable()
      if (written === undefined) this.#look()
      else
        written.then(
          () => this.#look(),
          () => {},
        )
    } else if (event.type !== 'state.changed') {
      const log = find(this.root, event.agentId)
      log?.hear(event)
      for (const heard of log?.heardBefore(log.lastSeq + 1) ?? []) this.#tell(heard)
    }
  }

  async #read(): Promise<void> {
    await this.#readLog(this.root)
    for (const log of logsOf(this.root)) {
      const { state, toldState, agentId, path, lastSeq, at } = log
      if (state === toldState) continue
      log.toldState = state
      const time = this.#parts.clock.now()
      this.#tell({ type: 'state.changed', agentId, path, seq: lastSeq, time, ...at, state, previous: toldState })
    }
  }

  /** Reads what is new in a log, and in those below; of one that was not begun yet, nothing. */
  async #readLog(log: FollowedLog): Promise<void> {
    const { store } = this.#parts
    try {
      for await (const record of store.read(log.agentId, log.lastSeq + 1)) {
        if (record.seq !== log.lastSeq + 1) continue
        if (record.type === 'agent.created' && record.forkedFrom !== undefined)
          log.begin((await readHistory(store, log.agentId)).past, record)
        const ends =
          record.type === 'tool.end'
            ? log.childOf(record.callId)
            : record.type === 'child.ended'
              ? log.below.get(record.childId)?.log
              : undefined
        // What led to it comes first.
        if (ends !== undefined) await this.#readLog(ends)
        for (const event of log.take(record)) this.#tell(event)
      }
    } catch (thrown) {
      if (log === this.root || !hasCode(thrown, 'AGENT_NOT_FOUND')) throw thrown
    }
    for (const event of log.heardBefore(log.lastSeq + 1)) this.#tell(event)
    for (const { log: child } of log.below.values()) {
      await this.#readLog(child)
      // One that became an agent of its own is not below it any more.
      if (child.created !== undefined && !child.path.includes(log.agentId)) log.below.delete(child.agentId)
    }
  }

  #tell(event: AgentEvent): void {
    const isOwn = event.agentId === this.root.agentId
    for (const { call, descendants } of this.#listeners) {
      if (!isOwn && !descendants && !concernsPeople(event)) continue
      callListener('A listener', call, event)
    }
  }
}

function find(log: FollowedLog, agentId: string): FollowedLog | undefined {
  return logsOf(log).find((one) => one.agentId === agentId)
}

export const logsOf = (log: FollowedLog): FollowedLog[] => [
  log,
  ...[...log.below.values()].flatMap((child) => logsOf(child.log)),
]
