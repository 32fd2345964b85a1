import type { NodeId } from '../../protocol/ids.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { StateDot } from '../parts/stateDot.tsx'
import { EventDetails } from './eventDetails.tsx'
import { NodeDetails } from './nodeDetails.tsx'
import { UsagePanel } from './usagePanel.tsx'

export interface DetailsPaneProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onRevert: (node: NodeId) => void
}

/** What is chosen, and what the agent used. */
export function DetailsPane({ inspector, view, onRevert }: DetailsPaneProps) {
  const { status, children } = view.state.value
  const event = inspector.event.value
  const node = inspector.node.value
  const running = inspector.attached.value.roster.agents.value
  return (
    <section class="details scroll" aria-label="Details" tabIndex={0}>
      {event === null || inspector.route.value.view !== 'timeline' ? null : (
        <EventDetails inspector={inspector} event={event} />
      )}
      {node === null ? null : <NodeDetails inspector={inspector} view={view} id={node} onRevert={onRevert} />}
      {status === 'loading' || status === 'error' ? null : <UsagePanel view={view} />}
      {children.length === 0 ? null : (
        <section class="details-part" aria-labelledby="children-title">
          <h2 id="children-title">Sub-agents</h2>
          <ul class="children">
            {children.slice(-50).map((child) => {
              const state = running.get(child)?.state ?? 'closed'
              return (
                <li key={child}>
                  <StateDot state={state} />
                  <a class="cut grow" href={`#agent=${encodeURIComponent(child)}`}>
                    {child}
                  </a>
                  <span class="faint small">{state}</span>
                </li>
              )
            })}
          </ul>
        </section>
      )}
    </section>
  )
}
