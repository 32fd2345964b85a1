/** The agents that a worker keeps in memory: so many, those that were used last. */
export class WarmAgents {
  readonly #most: number
  readonly #agents = new Set<number>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#agents.size
  }

  /** Puts the agent in memory; returns true if it was there before. */
  use(agent: number): boolean {
    const wasWarm = this.#agents.delete(agent)
    this.#agents.add(agent)
    if (this.#agents.size > this.#most) {
      const [oldest] = this.#agents
      this.#agents.delete(oldest!)
    }
    return wasWarm
  }

  /** Another worker has the agent now. */
  drop(agent: number): void {
    this.#agents.delete(agent)
  }

  clear(): void {
    this.#agents.clear()
  }
}
