import { counted } from '../../../../../charts/src/amounts.ts'
import type { RemoteWorker } from '../../../../../bridge/src/client/index.ts'
import type { AgentSummary } from '../../../../../wire/src/frames.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { usePolled } from '../../parts/usePolled.ts'

/** Interval at which a gateway is asked again, in milliseconds: workers come and go. */
const againMs = 2_000

export interface HomeWorkersProps {
  readonly workers: readonly RemoteWorker[]
  readonly agents: ReadonlyMap<string, AgentSummary>
  readonly filter: string
  readonly onFilter: (text: string) => void
}

/** The workers behind a gateway. Each has its number of agents, and is a filter. */
export function HomeWorkers({ workers, agents, filter, onFilter }: HomeWorkersProps) {
  const counts = new Map<string | undefined, number>()
  for (const { worker } of agents.values()) counts.set(worker, (counts.get(worker) ?? 0) + 1)
  return (
    <div class="home-counts home-workers" role="group" aria-label={counted(workers.length, 'worker')}>
      {workers.map(({ name, words }) => (
        <button
          key={name}
          type="button"
          class="home-count"
          aria-pressed={filter === name}
          title={words}
          onClick={() => onFilter(filter === name ? '' : name)}
        >
          <strong class="number">{formatCount(counts.get(name) ?? 0)}</strong> on <bdi>{name}</bdi>
        </button>
      ))}
    </div>
  )
}

/** Returns the workers behind a gateway. Empty if the server is no gateway, or does not tell. */
export function useWorkers({ attached, clock }: Inspector): readonly RemoteWorker[] {
  const { connection } = attached.value
  const mayAsk = connection.status.value === 'open' && connection.may.value('operate')
  // A gateway may have none for a while; another server never has any.
  return usePolled(clock, mayAsk ? connection.client : null, {
    ask: (client) => client.workers(),
    againMs: (hadSome) => (hadSome ? againMs : null),
  })
}
