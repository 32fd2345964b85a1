import { nowParts } from '../../../../../charts/src/nowLine.ts'
import { isBusy } from '../../model/agent/controls.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { restWords, viewNow } from '../../model/agent/viewStanding.ts'
import { useNow } from '../../parts/useNow.ts'

export interface NowLineProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

/** Returns true if an agent is at work in the view. */
export const isAtWork = ({ status, isRunning, chartState }: FollowedAgent['state']['value']): boolean =>
  status === 'live' && isRunning && isBusy(chartState)

/**
 * Activity of a busy agent, its duration and progress, or the way in which an agent came to rest. Always one line,
 * so that nothing below moves.
 */
export function NowLine({ inspector, view }: NowLineProps) {
  const state = view.state.value
  if (isAtWork(state)) return <Ticking inspector={inspector} view={view} />
  const isKnown = state.status !== 'loading' && state.status !== 'error'
  return <p class="now-line is-rest cut number">{isKnown ? restWords(state, view.runTimes) : ''}</p>
}

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
