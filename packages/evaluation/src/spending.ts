import type { Agent } from '../../../src/runtime/agents/agent.ts'

/** Tracks the cost of an evaluation, including agents at work. */
export class Spending {
  readonly #budgetUsd: number | undefined
  readonly #onReached: () => void
  /** Agents at work, with their ids. */
  readonly #working = new Map<Agent, string>()
  readonly #judges = new Map<string, number>()
  #settledUsd: number

  /** `settledUsd`: cost so far. `onReached`: called once the budget is reached. */
  constructor(settledUsd: number, budgetUsd: number | undefined, onReached: () => void) {
    this.#settledUsd = settledUsd
    this.#budgetUsd = budgetUsd
    this.#onReached = onReached
  }

  get usd(): number {
    let sum = this.#settledUsd
    for (const agent of this.#working.keys()) sum += agent.spent.costUsd
    return sum
  }

  get isReached(): boolean {
    return this.#budgetUsd !== undefined && this.usd >= this.#budgetUsd
  }

  /** Counts the cost of an agent from this moment on. The returned function is called when the agent has ended. */
  watch(agent: Agent): () => void {
    this.#working.set(agent, agent.id)
    const unsubscribe = agent.subscribe(
      ({ type }) => {
        if ((type === 'turn.end' || type === 'run.end') && this.isReached) this.#onReached()
      },
      { descendants: true },
    )
    return () => {
      unsubscribe()
      if (this.#working.delete(agent)) this.#settledUsd += agent.spent.costUsd
    }
  }

  /** Does the same as `watch`, for the judge of a trial. */
  watchJudge(key: string, agent: Agent): () => void {
    const end = this.watch(agent)
    return () => {
      end()
      this.#judges.set(key, (this.#judges.get(key) ?? 0) + agent.spent.costUsd)
    }
  }

  /** Returns the cost of the judge for a trial, in US dollars. */
  judgeUsd(key: string): number | undefined {
    return this.#judges.get(key)
  }
}
