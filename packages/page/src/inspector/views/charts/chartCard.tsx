import type { JSX } from 'preact'
import type { ChartModel } from '../../../../../charts/src/chartModel.ts'
import { chosenWords, type ChartChoice } from '../../model/charts/chartChoice.ts'
import type { TransitionWords } from '../../model/charts/chartWords.ts'
import { SquareButton } from '../../parts/squareButton.tsx'
import { Icon } from '../../parts/icon.tsx'

export interface ChartCardProps {
  readonly model: ChartModel
  readonly choice: ChartChoice
  readonly onClose: () => void
}

/** The state or the arrow that a person chose, in words. */
export function ChartCard({ model, choice, onClose }: ChartCardProps): JSX.Element | null {
  const words = chosenWords(model, choice)
  if (words === undefined) return null
  return (
    <section class="chart-card" aria-label={`Selected: ${words.title}`}>
      <header>
        <h2 class="mono">{words.title}</h2>
        <SquareButton label="Close" isQuiet onClick={onClose}>
          <Icon name="close" />
        </SquareButton>
      </header>
      <div class="scroll" tabIndex={0} role="group" aria-label="In words">
        {words.about !== undefined && <p>{words.about}</p>}
        {words.runs.length > 0 && <p class="muted">runs {words.runs.join(', ')}</p>}
        <ul>
          {words.transitions.map(({ from, ...transition }, index) => (
            <Transition key={index} {...transition} from={from === words.title ? undefined : from} />
          ))}
        </ul>
      </div>
    </section>
  )
}

const brakeTold = { open: 'brake open', shut: 'brake shut: never taken', brake: 'brake' } as const

export const Transition = ({
  when,
  guards,
  to,
  brake,
  said,
  from,
}: TransitionWords & { readonly from?: string | undefined }): JSX.Element => (
  <li>
    {from !== undefined && <span class="mono faint">{from}: </span>}
    {said !== null && <strong>{said} </strong>}
    <span class="mono">{when}</span>
    {guards.length > 0 && <span class="muted"> if {guards.join(' and ')}</span>}
    <span> {to === null ? 'acts and stays' : `leads to ${to}`}</span>
    {brake !== null && (
      <span class={`badge ${brake === 'open' ? 'good' : brake === 'shut' ? 'bad' : 'warn'}`}>{brakeTold[brake]}</span>
    )}
  </li>
)
