/** Lets one attempt at a time have an agent in this process: a retry may come before the attempt that it replaces has let go. */
export class Seats {
  readonly #taken = new Map<string, Promise<void>>()

  /** Resolves once the previous holder of the agent is done, with a function that releases it again. */
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

  /** Number of agents that an attempt has. */
  get size(): number {
    return this.#taken.size
  }

  has(agentId: string): boolean {
    return this.#taken.has(agentId)
  }
}
