import { nowParts } from '../../charts/nowLine.ts'
import { isBusy } from '../model/controls.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { viewNow } from '../model/viewStanding.ts'
import { useNow } from '../parts/useNow.ts'

export interface NowLineProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

/** Whether an agent is at work in what is shown. */
export const isAtWork = ({ status, isRunning, chartState }: FollowedAgent['state']['value']): boolean =>
  status === 'live' && isRunning && isBusy(chartState)

/** What a busy agent does now, since when, and how far it is. */
export const NowLine = ({ inspector, view }: NowLineProps) =>
  isAtWork(view.state.value) ? <Ticking inspector={inspector} view={view} /> : null

function Ticking({ inspector, view }: NowLineProps) {
  const now = useNow(inspector.clock, 500)
  const summary = inspector.attached.value.directory.agents.value.get(view.agentId)
  const parts = nowParts(viewNow(view.state.value, summary, now))
  return (
    <ul class="now-line number" aria-label="Now">
      {parts.map((part, index) => (
        <li key={index} class={index === 1 ? 'now-doing cut' : undefined} title={index === 1 ? part : undefined}>
          {part}
        </li>
      ))}
    </ul>
  )
}
