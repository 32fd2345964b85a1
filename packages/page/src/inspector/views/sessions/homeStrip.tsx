import { useRef } from 'preact/hooks'
import type { Standing } from '../../../../../charts/src/standing.ts'
import { formatCompact, formatCount } from '../../model/words/numbers.ts'
import type { Notices } from '../../model/shell/notices.ts'
import type { Overview } from '../../model/sessions/overview.ts'
import { GrowthRate } from '../../model/sessions/tokenRate.ts'
import { StateDot } from '../../parts/stateDot.tsx'

/** Words for the standings, in reading order. */
const words: readonly (readonly [standing: Standing, words: string])[] = [
  ['working', 'working'],
  ['waiting', 'waiting for you'],
  ['failed', 'failed'],
  ['paused', 'paused'],
  ['idle', 'idle'],
  ['ended', 'at rest'],
]

export interface StripProps {
  readonly overview: Overview
  readonly notices: Notices
  readonly shown: readonly Standing[]
  readonly now: number
  readonly filter: string
  readonly onToggle: (standing: Standing) => void
  readonly onFilter: (text: string) => void
  /** Called when the person wants to go to the list. */
  readonly onLeave: () => void
}

/** Numbers of agents by standing, each a filter; their cost and rate of tokens; and a field for words. */
export function HomeStrip({ overview, notices, shown, now, filter, onToggle, onFilter, onLeave }: StripProps) {
  const rate = useRef(new GrowthRate())
  const { counts, outputTokens } = overview
  const tokens = rate.current.see(outputTokens, now)
  return (
    <div class="home-strip">
      <div class="home-counts" role="group" aria-label="Show only">
        {words
          .filter(([standing]) => counts[standing] > 0 || shown.includes(standing))
          .map(([standing, label]) => (
            <button
              key={standing}
              type="button"
              class={`home-count is-${standing}`}
              aria-pressed={shown.includes(standing)}
              onClick={() => onToggle(standing)}
            >
              <StateDot state={standing} />
              <strong class="number">{formatCount(counts[standing])}</strong> {label}
            </button>
          ))}
      </div>
      <p class="home-totals number muted">
        {counts.working > 0 && tokens >= 0.5 ? (
          <span title="Output tokens per second, over the last ten seconds"> {formatCompact(tokens)} tok/s</span>
        ) : null}
      </p>
      <NotifyButton notices={notices} />
      <input
        id="filter"
        type="search"
        dir="auto"
        class="input home-filter"
        aria-label="Filter by title, id, definition or metadata"
        placeholder="Filter the overview"
        value={filter}
        onInput={({ currentTarget }) => onFilter(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && filter !== '') {
            event.stopPropagation()
            onFilter('')
          } else if (event.key !== 'ArrowDown' && event.key !== 'Enter') return
          else onLeave()
          event.preventDefault()
        }}
      />
    </div>
  )
}

/** Button that asks once for notifications; after a refusal it says so and does not ask again. */
function NotifyButton({ notices }: { readonly notices: Notices }) {
  if (notices.wasRefused.value)
    return (
      <span class="muted small" role="status">
        Your browser blocks notifications.
      </span>
    )
  if (notices.state.value !== 'default') return null
  return (
    <button type="button" class="button quiet slim home-notify" onClick={() => void notices.ask()}>
      Notify me
    </button>
  )
}
