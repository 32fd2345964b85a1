import { useComputed, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ChartLayout } from '../../../../../charts/src/chartLayout.ts'
import { closedAtFirst, holdingStates, seenState } from '../../../../../charts/src/closedStates.ts'
import type { ChartModel } from '../../../../../charts/src/chartModel.ts'
import type { ServedChart } from '../../../../../charts/src/servedChart.ts'
import type { AgentView } from '../../model/agent/agentView.ts'
import { brakeWords, chartWords, pauseLine } from '../../model/charts/chartWords.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { ChartLook } from '../../model/shell/route.ts'
import { LookSwitch } from '../../parts/lookSwitch.tsx'
import { ChartSkeleton } from '../../parts/chartSkeleton.tsx'
import { EmptyState } from '../../parts/emptyState.tsx'
import { ActorsView } from './actorsView.tsx'
import { Transition } from './chartCard.tsx'
import { ChartStage } from './chartStage.tsx'
import { recentStates } from '../../model/charts/recentStates.ts'

export interface ChartPaneProps {
  readonly inspector: Inspector
  readonly view: AgentView
}

/** The agent's statechart with its active state lit, in a picture and in words. */
export function ChartPane({ inspector, view }: ChartPaneProps): JSX.Element {
  const model = inspector.charts.chart.value
  if (inspector.route.value.look === 'actors')
    return (
      <section class="chart" aria-label="Agents of the tree">
        <div class="chart-bar">
          <ChartLooks inspector={inspector} />
        </div>
        <ActorsView key={view.agentId} inspector={inspector} view={view} />
      </section>
    )
  if (model !== null) return <Chart inspector={inspector} view={view} model={model} />
  return (
    <EmptyState icon="agents" title="No chart yet">
      <p>Only a running agent has a chart. It appears here once the agent starts.</p>
    </EmptyState>
  )
}

type Placing =
  | { readonly type: 'placing' }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'placed'; readonly layout: ChartLayout; readonly model: ChartModel }

const placing = { type: 'placing' } as const

/** Returns the full picture from the server, laid out here only if the server gives none. The one before stays until another is there. */
function useFullLayout(
  inspector: Inspector,
  { view, model, closed }: Pick<ChartProps, 'view' | 'model'> & { readonly closed: readonly string[] | null },
): Placing {
  const made = useSignal<{ readonly model: ServedChart; readonly placing: Placing } | null>(null)
  useEffect(() => {
    if (closed === null) return undefined
    let isOver = false
    const finish = (placed: Placing): void => {
      if (!isOver) made.value = { model, placing: placed }
    }
    const place = async (): Promise<void> => {
      const read = await inspector.charts.readFull(view.agentId, closed)
      const layout = read?.full ?? (await (await import('../../worker/layoutChart.ts')).layoutChart(model))
      finish({ type: 'placed', layout, model: read?.full === undefined ? model : read })
    }
    place().catch((thrown: unknown) => finish({ type: 'failed', why: (thrown as Error).message }))
    return () => void (isOver = true)
  }, [model, closed])
  return made.value?.model === model ? made.value.placing : placing
}

interface ChartProps {
  readonly inspector: Inspector
  readonly view: AgentView
  readonly model: ServedChart
}

function Chart({ inspector, view, model }: ChartProps): JSX.Element {
  const active = useComputed(() => view.state.value.chartState)
  const isPast = useComputed(() => view.state.value.status === 'past')
  const reason = useComputed(() => view.state.value.pause)
  const overview = inspector.route.value.look === 'full' ? undefined : model.overview
  const holding = useMemo(() => holdingStates(model), [model])
  const [closed, setClosed] = useState<readonly string[]>(() => closedAtFirst(model))
  const full = useFullLayout(inspector, { view, model, closed: overview === undefined ? closed : null })
  const shown: Placing = overview === undefined ? full : { type: 'placed', layout: overview, model }
  const toggle = (id: string): void => {
    if (holding.some((one) => one.id === id))
      setClosed(closed.includes(id) ? closed.filter((one) => one !== id) : [...closed, id])
  }
  const state = active.value
  const trail = useChartTrail(view)
  return (
    <section class="chart" aria-label="Statechart">
      <div class="chart-bar">
        <p class="chart-now">
          <span class="muted">{isPast.value ? 'At this moment' : 'Now'}</span>{' '}
          {state === '' ? <span class="muted">unknown</span> : <strong class="mono">{state}</strong>}
        </p>
        <ChartLooks inspector={inspector} />
        <ul class="chart-brakes" aria-label="Brakes">
          {brakeWords(model.brakes).map(({ name, isOpen, effect }) => (
            <li key={name} class={`chart-brake ${isOpen ? 'is-open' : 'is-shut'}`} title={`${name} brake ${effect}`}>
              <BrakeMark isOpen={isOpen} />
              <span>
                {name} <span class="hidden">brake</span> {isOpen ? 'open' : <span class="hidden">shut</span>}
              </span>
            </li>
          ))}
        </ul>
        {overview === undefined && holding.length > 0 && (
          <ul class="chart-open" aria-label="States that hold others">
            {holding.map(({ id, label, holds }) => (
              <li key={id}>
                <button type="button" class="chip" aria-expanded={!closed.includes(id)} onClick={() => toggle(id)}>
                  {closed.includes(id) ? '+' : '−'} {label} <span class="number faint">{holds}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      {shown.type === 'placing' && <ChartSkeleton label="Laying out the chart" />}
      {shown.type === 'failed' && (
        <EmptyState icon="warning" title="The chart could not be drawn">
          <p>{shown.why}</p>
          <p>Its states and transitions are listed below.</p>
        </EmptyState>
      )}
      {shown.type === 'placed' && (
        <ChartStage
          key={`${overview === undefined} ${shown.model.nodes.length}`}
          layout={shown.layout}
          model={shown.model}
          active={seenState(state, shown.model)}
          reason={pauseLine(reason.value)}
          trail={trail}
          isOverview={overview !== undefined}
          onToggle={overview === undefined ? toggle : undefined}
        />
      )}
      <details class="chart-words">
        <summary>States and transitions in words</summary>
        <ChartWordsList model={model} active={state} />
      </details>
    </section>
  )
}

const looks: Readonly<Record<ChartLook, string>> = { overview: 'Overview', full: 'Every state', actors: 'Agents' }

const ChartLooks = ({ inspector }: { readonly inspector: Inspector }): JSX.Element => (
  <LookSwitch
    looks={looks}
    chosen={inspector.route.value.look}
    onChoose={(look) => inspector.go({ look }, 'replace')}
  />
)

const BrakeMark = ({ isOpen }: { readonly isOpen: boolean }): JSX.Element => (
  <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
    {isOpen ? <path d="M1 7h12M9.5 3.5 13 7l-3.5 3.5" /> : <path d="M1 7h5M7.5 2v10M11 4.5v5" />}
  </svg>
)

/** Milliseconds that a state glows after the machine left it. */
const glow = 900

const none: ReadonlySet<string> = new Set()

/** Returns the states the machine has just left: most moves are over before a frame is drawn, and would not be seen. */
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

/** The chart in words, for a person who reads rather than looks. */
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
