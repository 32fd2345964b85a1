import type { ErrorInfo } from '../../../../src/protocol/errors.ts'

/** Agents that a gateway cannot reach at present, though the client is connected to it. */
export class AwayAgents {
  readonly #ids = new Set<string>()
  readonly #changed: (why?: ErrorInfo) => void

  /** `changed` is called when the first agent becomes unreachable, with the reason for each one, and once the last is back. */
  constructor(changed: (why?: ErrorInfo) => void) {
    this.#changed = changed
  }

  get isEmpty(): boolean {
    return this.#ids.size === 0
  }

  /** Idempotent. */
  left(agentId: string, why: ErrorInfo): void {
    if (this.#ids.has(agentId)) return
    this.#ids.add(agentId)
    this.#changed(why)
  }

  back(agentId: string): void {
    if (this.#ids.delete(agentId) && this.isEmpty) this.#changed()
  }

  /** Called for a new connection, over which nothing is known yet. */
  clear(): void {
    this.#ids.clear()
  }
}
