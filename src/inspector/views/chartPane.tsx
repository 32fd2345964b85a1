import { useComputed, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { chartDrawing } from '../../charts/chartDrawing.ts'
import type { ChartLayout } from '../../charts/chartLayout.ts'
import type { ChartModel } from '../../charts/chartModel.ts'
import { hubExits } from '../../charts/hubExits.ts'
import type { AgentView } from '../model/agentView.ts'
import { brakeWords, chartWords, type TransitionWords } from '../model/chartWords.ts'
import { EmptyState } from '../parts/emptyState.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { layoutChart } from '../worker/layoutChart.ts'
import { ChartStage } from './chartStage.tsx'
import { recentStates } from '../model/recentStates.ts'

export interface ChartPaneProps {
  readonly view: AgentView
  /** `null`: it is not there yet, or the server does not give it. */
  readonly model: ChartModel | null
}

/** The agent's statechart with its active state lit, in a picture and in words. */
export function ChartPane({ view, model }: ChartPaneProps): JSX.Element {
  const status = useComputed(() => view.state.value.status)
  if (model !== null) return <Chart view={view} model={model} />
  if (status.value === 'loading') return <Skeleton label="Reading the chart" />
  return (
    <EmptyState icon="agents" title="No chart yet">
      <p>The server gives the chart of an agent that runs. It appears here as soon as it comes.</p>
    </EmptyState>
  )
}

type Placing =
  | { readonly type: 'placing' }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'placed'; readonly layout: ChartLayout }

function Chart({ view, model }: { readonly view: AgentView; readonly model: ChartModel }): JSX.Element {
  const active = useComputed(() => view.state.value.chartState)
  const isPast = useComputed(() => view.state.value.status === 'past')
  const placing = useSignal<Placing>({ type: 'placing' })
  const still = useMemo(() => hubExits(chartDrawing({ ...model, active: [] })), [model])
  useEffect(() => {
    let isOver = false
    layoutChart(still).then(
      (layout) => {
        if (!isOver) placing.value = { type: 'placed', layout }
      },
      (thrown: unknown) => {
        if (!isOver) placing.value = { type: 'failed', why: thrown instanceof Error ? thrown.message : String(thrown) }
      },
    )
    return () => void (isOver = true)
  }, [still])
  const state = active.value
  const trail = useChartTrail(view)
  return (
    <section class="chart" aria-label="Statechart">
      <div class="chart-bar">
        <p class="chart-now">
          <span class="muted">{isPast.value ? 'At this moment' : 'Now'}</span>{' '}
          {state === '' ? <span class="muted">not known</span> : <strong class="mono">{state}</strong>}
        </p>
        <ul class="chart-brakes" aria-label="Brakes">
          {brakeWords(model.brakes).map(({ name, isOpen, effect }) => (
            <li key={name} class={`chart-brake ${isOpen ? 'is-open' : 'is-shut'}`}>
              <BrakeMark isOpen={isOpen} />
              <span>
                {name} brake {effect}
              </span>
            </li>
          ))}
        </ul>
      </div>
      {placing.value.type === 'placing' && <Skeleton label="Laying out the chart" />}
      {placing.value.type === 'failed' && (
        <EmptyState icon="warning" title="The chart could not be drawn">
          <p>{placing.value.why}</p>
          <p>Its states and transitions are listed in words below.</p>
        </EmptyState>
      )}
      {placing.value.type === 'placed' && (
        <ChartStage layout={placing.value.layout} model={model} active={state} trail={trail} />
      )}
      <details class="chart-words">
        <summary>States and transitions in words</summary>
        <ChartWordsList model={model} active={state} />
      </details>
    </section>
  )
}

const BrakeMark = ({ isOpen }: { readonly isOpen: boolean }): JSX.Element => (
  <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
    {isOpen ? <path d="M1 7h12M9.5 3.5 13 7l-3.5 3.5" /> : <path d="M1 7h5M7.5 2v10M11 4.5v5" />}
  </svg>
)

/** Milliseconds that a state glows after the machine left it. */
const glow = 900

const none: ReadonlySet<string> = new Set()

/** States the machine has just been in: most moves are over before a frame is drawn, and would not be seen. */
export function useChartTrail(view: AgentView): ReadonlySet<string> {
  const trail = useSignal<ReadonlySet<string>>(none)
  const looked = useRef<number | null>(null)
  const state = view.state.value
  useEffect(() => {
    const { events, chartState, at } = state
    const from = Math.min(looked.current ?? events.length, events.length)
    looked.current = events.length
    if (at !== null) return
    const states = recentStates(events, from, chartState)
    if (states.size > 0) trail.value = new Set([...trail.value, ...states])
  }, [state])
  const { value } = trail
  useEffect(() => {
    if (value.size === 0) return
    const timer = setTimeout(() => (trail.value = none), glow)
    return () => clearTimeout(timer)
  }, [value])
  return value
}

interface ChartWordsListProps {
  readonly model: ChartModel
  readonly active: string
}

/** The chart for who reads rather than looks. */
function ChartWordsList({ model, active }: ChartWordsListProps): JSX.Element {
  return (
    <div class="chart-list scroll" tabIndex={0} role="region" aria-label="States and transitions in words">
      <ul>
        {chartWords(model, active).map(({ id, depth, isActive, runs, transitions }) => (
          <li key={id} class={isActive ? 'is-active' : ''} style={{ marginInlineStart: `${(depth - 1) * 16}px` }}>
            <p>
              <strong class="mono">{id}</strong>
              {isActive && <span class="badge accent">active</span>}
              {runs.length > 0 && <span class="muted">runs {[...new Set(runs)].join(', ')}</span>}
            </p>
            <ul>
              {transitions.map((transition, index) => (
                <Transition key={index} {...transition} />
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {model.machines.map(({ id }) => (
        <p key={id} class="muted">
          Runs the machine <span class="mono">{id}</span> as an actor.
        </p>
      ))}
    </div>
  )
}

const brakeTold = { open: 'brake open', shut: 'brake shut: never taken', brake: 'brake' } as const

const Transition = ({ when, guards, to, brake }: TransitionWords): JSX.Element => (
  <li>
    <span class="mono">{when}</span>
    {guards.length > 0 && <span class="muted"> if {guards.join(' and ')}</span>}
    <span> {to === null ? 'acts and stays' : `leads to ${to}`}</span>
    {brake !== null && (
      <span class={`badge ${brake === 'open' ? 'good' : brake === 'shut' ? 'bad' : 'warn'}`}>{brakeTold[brake]}</span>
    )}
  </li>
)
