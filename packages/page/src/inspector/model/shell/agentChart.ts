import { effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import type { ServedChart } from '../../../../../charts/src/servedChart.ts'
import type { FollowedAgent } from '../agent/followedAgent.ts'

interface Parts {
  /** The agent that is shown. */
  readonly agent: ReadonlySignal<FollowedAgent | null>
  /** True when a chart may be asked for. */
  readonly isDue: ReadonlySignal<boolean>
  /** Reads the chart of an agent or a machine, with a query such as `layout=full`; `null` if the server gives none. */
  readonly read: (id: string, query?: string) => Promise<ServedChart | null>
}

/** The chart of the agent that is shown. Close it. */
export class AgentChart {
  readonly chart = signal<ServedChart | null>(null)
  readonly close: () => void
  readonly #parts: Parts

  /** Reads the chart of each agent that is shown, once it is due. */
  constructor(parts: Parts) {
    this.#parts = parts
    this.close = effect(() => {
      const agent = parts.agent.value
      if (agent !== null && parts.isDue.value) untracked(() => this.#read(agent))
    })
  }

  /** Reads the chart again if there is none: the right to see it may have come since. */
  readMissing(): void {
    const { agent, isDue } = this.#parts
    const shown = agent.peek()
    if (shown !== null && this.chart.peek() === null && isDue.peek()) this.#read(shown)
  }

  /** Reads the chart of an agent or kept machine with its full layout, these states closed; `null` if the server gives none. Never rejects. */
  readFull(id: string, closed: readonly string[] = []): Promise<ServedChart | null> {
    return this.#parts.read(id, `layout=full&closed=${closed.join()}`).catch(() => null)
  }

  #read(agent: FollowedAgent): void {
    this.#parts
      .read(agent.agentId)
      .catch(() => null)
      .then((chart) => {
        if (this.#parts.agent.value === agent && chart !== null) this.chart.value = chart
      })
      .catch(() => {})
  }
}
