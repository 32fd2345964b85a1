import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { activeStates } from '../../../../../charts/src/hostWords.ts'
import type { ServedChart } from '../../../../../charts/src/servedChart.ts'
import { ChartSkeleton } from '../../parts/chartSkeleton.tsx'
import { ChartStage } from '../charts/chartStage.tsx'

export interface HostChartProps {
  /** `undefined`: it is on its way; `null`: the server gives none. */
  readonly chart: ServedChart | null | undefined
  /** The states it is in, as XState writes them. */
  readonly value: unknown
}

/** The chart of a machine with its states lit; where there is none, the states as a tree. */
export function HostChart({ chart, value }: HostChartProps): JSX.Element {
  const [active = '', ...also] = activeStates(value)
  const left = useStatesLeft([active, ...also].join('\n'))
  if (chart === undefined) return <ChartSkeleton label="Loading the chart" />
  if (chart?.full === undefined)
    return (
      <section class="host-tree scroll" tabIndex={0} aria-label="States">
        <p class="muted">The server has no picture of this machine. It is in these states:</p>
        <StateTree value={value} />
      </section>
    )
  return (
    <section class="chart" aria-label="Statechart">
      <ChartStage layout={chart.full} model={chart} active={active} also={also} trail={left} isOverview={false} />
    </section>
  )
}

/** The states that were active before the present ones. */
function useStatesLeft(now: string): ReadonlySet<string> {
  const known = useRef<{ readonly now: string; readonly left: ReadonlySet<string> }>({ now, left: new Set() })
  if (known.current.now !== now) known.current = { now, left: new Set(known.current.now.split('\n')) }
  return known.current.left
}

function StateTree({ value }: { readonly value: unknown }): JSX.Element {
  const states = typeof value === 'string' ? { [value]: null } : value
  const entries = typeof states === 'object' && states !== null ? Object.entries(states) : []
  return (
    <ul>
      {entries.map(([name, below]) => (
        <li key={name}>
          <span class="mono">{name}</span>
          {below === null ? null : <StateTree value={below} />}
        </li>
      ))}
    </ul>
  )
}
