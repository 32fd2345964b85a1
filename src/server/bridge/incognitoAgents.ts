import type { Agent } from '../../runtime/agents/agent.ts'

interface Owned {
  readonly agent: Agent
  /** Of the client that had it spawned. */
  readonly sessionId: string
}

/** Incognito agents that clients had spawned. Each is seen by that client alone, and ends with its session or with the server. */
export class IncognitoAgents {
  readonly #owned = new Map<string, Owned>()

  add(agent: Agent, sessionId: string): void {
    this.#owned.set(agent.id, { agent, sessionId })
  }

  /** An agent begins to run: it may take the id of one that is gone. */
  began({ id }: Agent): void {
    this.#owned.delete(id)
  }

  /** Whether an agent may not be seen in a session; `agent`: it runs. Those that no client had spawned are seen in none. */
  isHidden(
    { id, path, agent }: { readonly id: string; readonly path: readonly string[]; readonly agent: Agent | undefined },
    sessionId: string | undefined,
  ): boolean {
    for (const each of [...path, id]) {
      const owned = this.#owned.get(each)
      if (owned !== undefined) return owned.sessionId !== sessionId
    }
    return agent?.incognito === true
  }

  /** Nobody can come back to its agents. */
  endSession(sessionId: string): void {
    for (const [id, owned] of this.#owned) {
      if (owned.sessionId !== sessionId) continue
      this.#owned.delete(id)
      end(owned.agent)
    }
  }

  close(): void {
    for (const { agent } of this.#owned.values()) end(agent)
    this.#owned.clear()
  }
}

const end = (agent: Agent): void => void agent.close().catch(() => {})
