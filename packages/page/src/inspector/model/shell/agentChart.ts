import { effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import type { ServedChart } from '../../../../../charts/src/servedChart.ts'
import type { FollowedAgent } from '../agent/followedAgent.ts'

interface Parts {
  /** The agent that is shown. */
  readonly agent: ReadonlySignal<FollowedAgent | null>
  /** True when a chart may be asked for. */
  readonly isDue: ReadonlySignal<boolean>
  /** Reads the chart of an agent, or that of a machine, if told so with its `full` layout; `null` when the server gives none. */
  readonly read: (id: string, layout?: 'full') => Promise<ServedChart | null>
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

  /** Reads it again where there is none: the right to see it may have come since. */
  readMissing(): void {
    const { agent, isDue } = this.#parts
    const shown = agent.peek()
    if (shown !== null && this.chart.peek() === null && isDue.peek()) this.#read(shown)
  }

  /** The full layout of the chart that is shown; `undefined` when the server gives none. Never rejects. */
  async readFullLayout(): Promise<ServedChart['full']> {
    const { value } = this.chart
    if (value === null || value.full !== undefined) return value?.full
    const read = await this.readHost(this.#parts.agent.value?.agentId ?? '')
    if (read?.full !== undefined && this.chart.value === value) this.chart.value = { ...value, full: read.full }
    return read?.full
  }

  /** The chart of a machine that is kept; `null` when the server gives none. Never rejects. */
  readHost(id: string): Promise<ServedChart | null> {
    return this.#parts.read(id, 'full').catch(() => null)
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
