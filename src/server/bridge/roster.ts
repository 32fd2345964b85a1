import type { Clock } from '../../protocol/clock.ts'
import type { AgentSummary, ServerFrame } from '../../protocol/frames.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import type { Reach } from './roles.ts'
import { summaryOf } from './snapshots.ts'

/** Interval of polling, in milliseconds. */
const pollMs = 200

/** A client that watches the list of running agents. */
export interface RosterWatcher {
  readonly reach: Reach
  /** No more should be sent for now. */
  readonly isFull: boolean
  send(frame: ServerFrame): void
}

/** An agent as it is now, for all who watch. */
interface RosterEntry {
  readonly summary: AgentSummary
  /** The same as text, for comparison. */
  readonly text: string
}

/**
 * Sends watchers the agents that run and what has changed. It polls a few times a second while somebody watches, so a busy agent costs
 * no more than a quiet one.
 */
export class Roster {
  readonly #agents: () => readonly Agent[]
  readonly #clock: Clock
  /** What each was sent last, by agent. */
  readonly #watchers = new Map<RosterWatcher, Map<string, string>>()
  #cancel: (() => void) | undefined

  /** `agents`: those without a parent. */
  constructor(agents: () => readonly Agent[], clock: Clock) {
    this.#agents = agents
    this.#clock = clock
  }

  watch(watcher: RosterWatcher): void {
    this.#watchers.set(watcher, new Map())
    this.#cancel ??= this.#pollLater()
    this.#send(watcher, this.#poll(), true)
  }

  unwatch(watcher: RosterWatcher): void {
    this.#watchers.delete(watcher)
    if (this.#watchers.size === 0) this.close()
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #pollLater(): () => void {
    return this.#clock.after(pollMs, () => {
      const entries = this.#poll()
      for (const watcher of this.#watchers.keys()) if (!watcher.isFull) this.#send(watcher, entries, false)
      this.#cancel = this.#pollLater()
    })
  }

  #poll(): RosterEntry[] {
    const below = (agent: Agent): Agent[] => [agent, ...agent.children().flatMap(below)]
    const summaries = this.#agents().flatMap(below).map(summaryOf)
    return summaries.map((summary) => ({ summary, text: JSON.stringify(summary) }))
  }

  #send(watcher: RosterWatcher, entries: readonly RosterEntry[], isFirst: boolean): void {
    const sent = this.#watchers.get(watcher)!
    const within = entries.filter(({ summary }) =>
      watcher.reach({ id: summary.agentId, path: summary.path, metadata: summary.metadata }),
    )
    const changed = within.filter(({ summary, text }) => sent.get(summary.agentId) !== text)
    for (const { summary, text } of changed) sent.set(summary.agentId, text)
    const ids = new Set(within.map(({ summary }) => summary.agentId))
    const gone = [...sent.keys()].filter((id) => !ids.has(id))
    for (const id of gone) sent.delete(id)
    if (!isFirst && changed.length === 0 && gone.length === 0) return
    watcher.send({ type: 'agents', agents: changed.map(({ summary }) => summary), gone })
  }
}
