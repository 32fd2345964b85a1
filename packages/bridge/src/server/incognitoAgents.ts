import type { Agent } from '../../../../src/runtime/agents/agent.ts'

interface Owned {
  readonly agent: Agent
  /** Session of the client that spawned the agent. */
  readonly sessionId: string
}

/** Incognito agents that clients spawned. Each is visible to that client alone, and ends with the client's session or with the server. */
export class IncognitoAgents {
  readonly #owned = new Map<string, Owned>()

  add(agent: Agent, sessionId: string): void {
    this.#owned.set(agent.id, { agent, sessionId })
  }

  /** Forgets the owner of an ended agent when another agent starts under its id. */
  began({ id }: Agent): void {
    this.#owned.delete(id)
  }

  /**
   * Returns true if a session must not see an agent. `agent` is set if it runs. No session sees incognito
   * agents that no client spawned.
   */
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

  /** Ends the incognito agents of a session: no client can return to them. */
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
