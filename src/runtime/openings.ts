import { RuntimeError } from '../protocol/errors.ts'

/** The agents that are being spawned, resumed or opened, each by one call at a time. */
export class Openings {
  readonly #openings = new Map<string, Promise<unknown>>()

  /** Settles with the call that opens the agent, and never rejects; `undefined` if there is none. */
  of(agentId: string): Promise<unknown> | undefined {
    return this.#openings.get(agentId)
  }

  /** @throws RuntimeError `AGENT_EXISTS` */
  checkFree(agentId: string): void {
    if (this.#openings.has(agentId))
      throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" is being started by another call.`)
  }

  /** Opens an agent while no other call does. */
  alone<T>(agentId: string, open: () => Promise<T>): Promise<T> {
    const opening = open().finally(() => this.#openings.delete(agentId))
    const settled = opening.catch(() => {})
    this.#openings.set(agentId, settled)
    return opening
  }
}
