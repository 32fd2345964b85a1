/** Allows one attempt at a time per agent in this process, because a retry may come before the attempt that it replaces has released the agent. */
export class Seats {
  readonly #taken = new Map<string, Promise<void>>()

  /** Waits until the previous holder of the agent is done; resolves with a function that releases the agent. */
  async take(agentId: string): Promise<() => void> {
    for (;;) {
      const before = this.#taken.get(agentId)
      if (before === undefined) break
      await before
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#taken.set(agentId, promise)
    return () => {
      if (this.#taken.get(agentId) === promise) this.#taken.delete(agentId)
      resolve()
    }
  }

  /** Number of agents held by an attempt. */
  get size(): number {
    return this.#taken.size
  }

  has(agentId: string): boolean {
    return this.#taken.has(agentId)
  }
}
