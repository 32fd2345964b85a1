import { callListener } from '../../../../src/protocol/callbackBugs.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { hasCode } from '../../../../src/protocol/errors.ts'
import { concernsPeople, isLogged, type AgentEvent } from '../../../../src/protocol/events.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { readHistory } from '../../../../src/log/readHistory.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { FollowedLog } from './followedLog.ts'

/** Interval at which the logs of an agent with listeners are polled, in milliseconds. */
const pollMs = 200

interface Parts {
  readonly store: Store
  readonly clock: Clock
  /** Returns the agent if it works in this process; its unlogged events come from it. */
  agent(agentId: string): Agent | undefined
}

interface Listener {
  readonly call: (event: AgentEvent) => unknown
  readonly descendants: boolean
}

/**
 * An agent and its descendants, in whichever process they work, followed by their logs in the store. The logs are read when a caller asks for their
 * state. While there are listeners, they are read at each event if the agent works in this process, and otherwise a few times a second.
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

  /** Resolves once all records that the store has were read and passed to listeners. Rejects as the store does. */
  catchUp(): Promise<void> {
    this.#next ??= this.#reading.then(() => {
      this.#next = undefined
      const reading = this.#read()
      this.#reading = reading.catch(() => {})
      return reading
    })
    return this.#next
  }

  /** Subscribes a listener, as `subscribe` of an agent does. */
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

  /** Listens to the agent once it has started to work in this process, if there are listeners. */
  began(agent: Agent): void {
    if (this.#listeners.size > 0) this.#hear(agent)
  }

  /** Stops listening. */
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

  /** Polls once. If the store fails, it is polled again later. */
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

  /** Reads the new records of a log and of its descendants' logs. A log that has not begun yet has none. */
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
