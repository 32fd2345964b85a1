import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { AgentSummary, ServerFrame } from '../../../wire/src/frames.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { Reach } from './roles.ts'
import { summaryOf, versionOf } from './snapshots.ts'
import { visibleSummary, type View } from './visible.ts'

/** Interval of polling, in milliseconds. */
const pollMs = 200

/** A client that watches the list of running agents. */
export interface RosterWatcher {
  readonly reach: Reach
  readonly view: View
  /** True while no more should be sent. */
  readonly isFull: boolean
  send(frame: ServerFrame): void
}

/** State of a running agent at its last change. */
interface RosterEntry {
  readonly agent: Agent
  /** Version of the agent when it was read. If the version is the same, neither the agent nor any of its descendants has changed. */
  readonly version: number
  readonly summary: AgentSummary
  /** The summary as text, for comparison. */
  readonly text: string
  /** Number of the poll that found the summary changed. */
  readonly changed: number
  readonly children: readonly Agent[]
}

/** State of a watcher: the entries that were sent to it. */
interface Sent {
  /** Number of the poll after which the watcher had everything. */
  poll: number
  /** Numbers of the polls that found the changes that the watcher has, by agent. */
  readonly entries: Map<string, number>
}

/**
 * Sends the running agents and their changes to watchers. It polls a few times a second while there are
 * watchers, so a busy agent costs no more than a quiet one, and reads only changed agents.
 */
export class Roster {
  readonly #agents: () => readonly Agent[]
  readonly #clock: Clock
  readonly #watchers = new Map<RosterWatcher, Sent>()
  /** Running agents, by id. */
  #entries = new Map<string, RosterEntry>()
  /** Number of polls that found a change. */
  #poll = 0
  #cancel: (() => void) | undefined

  /** Takes `agents`, which returns the agents without a parent. */
  constructor(agents: () => readonly Agent[], clock: Clock) {
    this.#agents = agents
    this.#clock = clock
  }

  watch(watcher: RosterWatcher): void {
    this.#watchers.set(watcher, { poll: -1, entries: new Map() })
    this.#cancel ??= this.#pollLater()
    this.#read()
    this.#send(watcher, true)
  }

  unwatch(watcher: RosterWatcher): void {
    this.#watchers.delete(watcher)
    if (this.#watchers.size === 0) this.close()
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#entries = new Map()
  }

  #pollLater(): () => void {
    return this.#clock.after(pollMs, () => {
      this.#read()
      for (const watcher of this.#watchers.keys()) if (!watcher.isFull) this.#send(watcher, false)
      this.#cancel = this.#pollLater()
    })
  }

  /** Reads the changed agents. */
  #read(): void {
    const entries = new Map<string, RosterEntry>()
    const poll = this.#poll + 1
    let isChanged = false
    const readAll = (agents: readonly Agent[]): void => {
      for (const agent of agents) {
        const known = this.#entries.get(agent.id)
        const entry = this.#entryOf(agent, known, poll)
        if (entry.changed === poll) isChanged = true
        entries.set(agent.id, entry)
        readAll(entry.children)
      }
    }
    readAll(this.#agents())
    if (isChanged || entries.size !== this.#entries.size) this.#poll = poll
    this.#entries = entries
  }

  #entryOf(agent: Agent, known: RosterEntry | undefined, poll: number): RosterEntry {
    const version = versionOf(agent)
    if (known?.agent === agent && known.version === version) return known
    const summary = summaryOf(agent)
    const text = JSON.stringify(summary)
    const children = agent.children()
    if (known?.text === text) return { ...known, agent, version, children }
    return { agent, version, summary, text, changed: poll, children }
  }

  #send(watcher: RosterWatcher, isFirst: boolean): void {
    const sent = this.#watchers.get(watcher)!
    if (sent.poll === this.#poll) return
    sent.poll = this.#poll
    const { entries } = sent
    const agents: AgentSummary[] = []
    const isWithin = (id: string): boolean => {
      const entry = this.#entries.get(id)
      return entry !== undefined && reaches(watcher, entry)
    }
    for (const [id, entry] of this.#entries) {
      if (entries.get(id) === entry.changed || !reaches(watcher, entry)) continue
      entries.set(id, entry.changed)
      agents.push(visibleSummary(entry.summary, watcher.view))
    }
    const gone = [...entries.keys()].filter((id) => !isWithin(id))
    for (const id of gone) entries.delete(id)
    if (isFirst || agents.length > 0 || gone.length > 0) watcher.send({ type: 'agents', agents, gone })
  }
}

const reaches = ({ reach }: RosterWatcher, { summary }: RosterEntry): boolean =>
  reach({ id: summary.agentId, path: summary.path, metadata: summary.metadata })
