import type { AgentSummary, ServerFrame } from '../../../wire/src/frames.ts'
import type { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Asked } from './outgoing.ts'

/** Changes to a server's agents since the last report. */
export interface RosterChange {
  /** Agents that started or changed, sub-agents included. */
  readonly agents: readonly AgentSummary[]
  /** Ids of agents that no longer run. */
  readonly gone: readonly string[]
}

/** The running agents of a server, shared by all watchers and requested once per connection. */
export class RemoteRoster {
  readonly #ask: (frame: Asked, refused: (error: RuntimeError) => void) => void
  readonly #report: (error: RuntimeError) => void
  readonly #known = new Map<string, AgentSummary>()
  readonly #listeners = new Set<(change: RosterChange) => void>()
  /** True if the next frame lists all agents. */
  #isFirst = true

  constructor(
    ask: (frame: Asked, refused: (error: RuntimeError) => void) => void,
    report: (error: RuntimeError) => void,
  ) {
    this.#ask = ask
    this.#report = report
  }

  add(listener: (change: RosterChange) => void): () => void {
    const own = (change: RosterChange): void => listener(change)
    this.#listeners.add(own)
    if (this.#listeners.size === 1) this.reopen()
    else if (!this.#isFirst) own({ agents: [...this.#known.values()], gone: [] })
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#ask({ type: 'agent.unwatch' }, this.#report)
    }
  }

  /** Asks for the agents again after a reconnect, if there are listeners. */
  reopen(): void {
    if (this.#listeners.size === 0) return
    this.#isFirst = true
    this.#ask({ type: 'agent.watch' }, this.#report)
  }

  take({ agents, gone }: Extract<ServerFrame, { type: 'agents' }>): void {
    const ids = new Set(agents.map(({ agentId }) => agentId))
    const lost = this.#isFirst ? [...this.#known.keys()].filter((id) => !ids.has(id)) : gone
    this.#isFirst = false
    for (const id of lost) this.#known.delete(id)
    for (const agent of agents) this.#known.set(agent.agentId, agent)
    for (const listener of this.#listeners) listener({ agents, gone: lost })
  }
}
