import type { ErrorInfo } from '../../../../src/protocol/errors.ts'

/** Agents that a gateway cannot reach at present, though the client is connected to it. */
export class AwayAgents {
  readonly #ids = new Set<string>()
  readonly #changed: (why?: ErrorInfo) => void

  /** Takes `changed`, which is called when an agent becomes unreachable, with the reason, and once the last one is back. */
  constructor(changed: (why?: ErrorInfo) => void) {
    this.#changed = changed
  }

  get isEmpty(): boolean {
    return this.#ids.size === 0
  }

  /** Records that an agent became unreachable. Idempotent. */
  left(agentId: string, why: ErrorInfo): void {
    if (this.#ids.has(agentId)) return
    this.#ids.add(agentId)
    this.#changed(why)
  }

  back(agentId: string): void {
    if (this.#ids.delete(agentId) && this.isEmpty) this.#changed()
  }

  /** Clears the list for a new connection, because nothing is known over it yet. */
  clear(): void {
    this.#ids.clear()
  }
}
