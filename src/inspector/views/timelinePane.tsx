import type { JSX } from 'preact'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { timelineLooks, type TimelineLook } from '../model/route.ts'
import { EventLog } from './eventLog.tsx'
import { TimeBars } from './timeBars.tsx'

export interface TimelineProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

const looks: Readonly<Record<TimelineLook, string>> = { bars: 'Bars', log: 'Log' }

/** What happened, when: as bars on an axis of time, or every event in a list. */
export function TimelinePane(props: TimelineProps): JSX.Element {
  const { inspector } = props
  const { as } = inspector.route.value
  const Shown = as === 'bars' ? TimeBars : EventLog
  return (
    <div class="timeline">
      <Shown {...props}>
        <div class="chart-looks" role="group" aria-label="Shown">
          {timelineLooks.map((look) => (
            <button
              key={look}
              type="button"
              class="button"
              aria-pressed={look === as}
              onClick={() => inspector.go({ as: look }, 'replace')}
            >
              {looks[look]}
            </button>
          ))}
        </div>
      </Shown>
    </div>
  )
}
