import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import { activeStates } from '../../../../../charts/src/hostWords.ts'
import type { ServedChart } from '../../../../../charts/src/servedChart.ts'
import { ChartSkeleton } from '../../parts/chartSkeleton.tsx'
import { ChartStage } from '../charts/chartStage.tsx'

export interface HostChartProps {
  /** Chart of the machine; `undefined` while it is on its way, `null` if the server gives none. */
  readonly chart: ServedChart | null | undefined
  /** The machine's states, as XState writes them. */
  readonly value: unknown
}

/** The chart of a machine with its active states lit, or its states as a tree if there is no chart. */
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

const none: ReadonlySet<string> = new Set()
/** Milliseconds that a state glows after the machine left it. */
const glow = 900

/** Returns the states that the machine has just left. */
function useStatesLeft(now: string): ReadonlySet<string> {
  const before = useRef(now)
  const left = useSignal(none)
  useEffect(() => {
    if (before.current === now) return undefined
    left.value = new Set(before.current.split('\n'))
    before.current = now
    const timer = setTimeout(() => (left.value = none), glow)
    return () => clearTimeout(timer)
  }, [now])
  return left.value
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
