import type { JSX } from 'preact'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { TimelineLook } from '../../model/shell/route.ts'
import { LookSwitch } from '../../parts/lookSwitch.tsx'
import { EventLog } from '../events/eventLog.tsx'
import { TimeBars } from './timeBars.tsx'

export interface TimelineProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

const looks: Readonly<Record<TimelineLook, string>> = { bars: 'Bars', log: 'Log' }

/** Timeline of an agent: bars on an axis of time, or every event in a list. */
export function TimelinePane(props: TimelineProps): JSX.Element {
  const { inspector } = props
  const { as } = inspector.route.value
  const Shown = as === 'bars' ? TimeBars : EventLog
  return (
    <div class="timeline">
      <Shown {...props}>
        <LookSwitch looks={looks} chosen={as} onChoose={(look) => inspector.go({ as: look }, 'replace')} />
      </Shown>
    </div>
  )
}
