import type { JSX } from 'preact'
import type { ChartModel } from '../../charts/chartModel.ts'
import { chartWords, type TransitionWords } from '../model/chartWords.ts'

export interface ChartWordsListProps {
  readonly model: ChartModel
  readonly active: string
}

/** The chart for who reads rather than looks. */
export function ChartWordsList({ model, active }: ChartWordsListProps): JSX.Element {
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
