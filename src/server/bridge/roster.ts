import type { AgentSummary, ServerFrame } from '../../protocol/frames.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import type { Reach } from './access.ts'
import type { Bridge } from './bridge.ts'

/** Between two looks at the agents, in milliseconds. */
const lookMs = 200

/** Somebody who watches which agents there are. */
export interface RosterWatcher {
  readonly reach: Reach
  /** Takes no more for now. */
  readonly isFull: boolean
  send(frame: ServerFrame): void
}

/** An agent as a list or a snapshot shows it. */
export const summaryOf = (agent: Agent): AgentSummary => ({
  agentId: agent.id,
  definition: agent.definition,
  path: agent.path,
  state: agent.state,
  seq: agent.lastSeq,
  head: agent.conversation.head,
  pendingApprovals: agent.approvals().map(({ key }) => key),
  spent: agent.spent,
})

/** What was told of agents, by id. */
type Told = Map<string, string>

/** An agent as it is at one look, for all who watch. */
interface Sight {
  readonly summary: AgentSummary
  /** The same as text, to be compared. */
  readonly text: string
}

/**
 * Tells watchers which agents run and how they are. It looks a few times a second while somebody watches, so that an agent that
 * does a thousand things a second costs no more than one that does one.
 */
export class Roster {
  readonly #bridge: Bridge
  readonly #watchers = new Map<RosterWatcher, Told>()
  #cancel: (() => void) | undefined

  constructor(bridge: Bridge) {
    this.#bridge = bridge
  }

  watch(watcher: RosterWatcher): void {
    this.#watchers.set(watcher, new Map())
    this.#cancel ??= this.#lookLater()
    this.#tell(watcher, this.#look(), true)
  }

  unwatch(watcher: RosterWatcher): void {
    this.#watchers.delete(watcher)
    if (this.#watchers.size === 0) this.close()
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #lookLater(): () => void {
    return this.#bridge.clock.after(lookMs, () => {
      const sights = this.#look()
      for (const watcher of this.#watchers.keys()) if (!watcher.isFull) this.#tell(watcher, sights, false)
      this.#cancel = this.#lookLater()
    })
  }

  #look(): Sight[] {
    const below = (agent: Agent): Agent[] => [agent, ...agent.children().flatMap(below)]
    const summaries = this.#bridge.agents().flatMap(below).map(summaryOf)
    return summaries.map((summary) => ({ summary, text: JSON.stringify(summary) }))
  }

  #tell(watcher: RosterWatcher, sights: readonly Sight[], isFirst: boolean): void {
    const told = this.#watchers.get(watcher)!
    const seen = sights.filter(({ summary }) => watcher.reach(summary.agentId, summary.path))
    const changed = seen.filter(({ summary, text }) => told.get(summary.agentId) !== text)
    for (const { summary, text } of changed) told.set(summary.agentId, text)
    const ids = new Set(seen.map(({ summary }) => summary.agentId))
    const gone = [...told.keys()].filter((id) => !ids.has(id))
    for (const id of gone) told.delete(id)
    if (!isFirst && changed.length === 0 && gone.length === 0) return
    watcher.send({ type: 'agents', agents: changed.map(({ summary }) => summary), gone })
  }
}
