import type { ErrorInfo } from '../../../../src/protocol/errors.ts'

/** Agents that a gateway cannot reach at present, though the client is connected to it. */
export class AwayAgents {
  readonly #ids = new Set<string>()
  readonly #changed: (why?: ErrorInfo) => void

  /** `changed` is called after the first has left, and after each with why it cannot be reached; and once the last is back. */
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

  /** The connection is another one, and nothing is known over it. */
  clear(): void {
    this.#ids.clear()
  }
}
