import { useEffect, useRef } from 'preact/hooks'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { AgentDialog } from '../agent/headerActions.tsx'
import { nameInTree } from '../../model/sessions/treeNames.ts'
import { childStanding } from '../../model/sessions/childStanding.ts'
import { detailsWidth } from '../../model/shell/shellChoices.ts'
import { Splitter } from '../../parts/splitter.tsx'
import { StateDot } from '../../parts/stateDot.tsx'
import { useDrawer } from '../../parts/useDrawer.ts'
import { ForksPanel } from '../branches/forksPanel.tsx'
import { NodeDetails } from './nodeDetails.tsx'
import { SchedulesPanel } from './schedulesPanel.tsx'
import { SourcesPanel } from '../usage/sourcesPanel.tsx'
import { UsagePanel } from './usagePanel.tsx'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import { exactTime, isoTime } from '../../model/words/dayTime.ts'
import { isLogged, leftOf } from '../../model/agent/eventList.ts'
import { Icon } from '../../parts/icon.tsx'
import { JsonTree } from '../../parts/jsonTree.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'

export interface DetailsPaneProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onOpen: (dialog: AgentDialog) => void
}

/** Details of the chosen message or event, and the usage of the agent. */
export function DetailsPane({ inspector, view, onOpen }: DetailsPaneProps) {
  const { status, children, records } = view.state.value
  const event = inspector.event.value
  const node = inspector.node.value
  const { directory } = inspector.attached.value
  const running = directory.agents.value
  const left = directory.left.value
  const { choices } = inspector
  const isInContext = inspector.route.value.view === 'context'
  const pane = useRef<HTMLDivElement>(null)
  const isDrawer = useDrawer(choices.isDrawerOpen, node ?? event, pane)
  const isShown = !isDrawer || choices.isDrawerOpen.value
  return (
    <section
      id="details"
      class="details"
      data-drawer={isDrawer ? (isShown ? 'open' : 'closed') : undefined}
      aria-label="Details"
    >
      <Splitter
        label="Width of the details"
        side="right"
        controls="details"
        width={choices.details.value}
        least={detailsWidth.least}
        most={detailsWidth.most}
        onWidth={(width) => choices.setDetails(width)}
        onReset={() => choices.setDetails(detailsWidth.usual)}
      />
      <div ref={pane} class="details-body scroll" role="group" aria-label="Details" tabIndex={0}>
        <button type="button" class="button quiet drawer-close" onClick={() => (choices.isDrawerOpen.value = false)}>
          <Icon name="close" /> Close details
        </button>
        {event === null ? null : <EventDetails inspector={inspector} event={event} />}
        {node === null ? null : <NodeDetails inspector={inspector} view={view} id={node} onOpen={onOpen} />}
        {status === 'loading' || status === 'error' ? null : <UsagePanel inspector={inspector} view={view} />}
        <SchedulesPanel inspector={inspector} view={view} />
        {isInContext ? null : <SourcesPanel view={view} />}
        <ForksPanel inspector={inspector} agentId={view.agentId} />
        {children.length === 0 ? null : (
          <section class="details-part" aria-labelledby="children-title">
            <h2 id="children-title">Sub-agents</h2>
            <ul class="children">
              {children.slice(-50).map((child) => {
                const agent = running.get(child)
                const known = { summary: agent, hasLeft: left.has(child) }
                const { standing, words } = childStanding(child, view.state.value, known)
                return (
                  <li key={child}>
                    <StateDot state={standing} />
                    <a class="cut grow" href={`#agent=${encodeURIComponent(child)}`} title={child}>
                      <bdi>{nameInTree(directory, records, child)}</bdi>
                    </a>
                    <span class="faint small cut">{words}</span>
                  </li>
                )
              })}
            </ul>
          </section>
        )}
        {node !== null || event !== null || isInContext ? null : (
          <p class="details-hint muted small">Select a message, call or event to see its details.</p>
        )}
      </div>
    </section>
  )
}

/** An event as JSON. A captured request is shown once its messages have been read. */
function EventJson({ inspector, event }: { readonly inspector: Inspector; readonly event: AgentEvent }) {
  const view = inspector.agent.value
  const isApart = leftOf(event) !== undefined && view?.state.value.areRequestsRead === false
  useEffect(() => {
    if (isApart) view?.readRequests()
  }, [view, event, isApart])
  if (isApart) return <Skeleton label="Reading the request" />
  return <JsonTree key={`${event.seq} ${event.type}`} value={event} depth={2} />
}

/** One event in full. */
export function EventDetails({ inspector, event }: { readonly inspector: Inspector; readonly event: AgentEvent }) {
  return (
    <section class="details-part" aria-labelledby="event-title">
      <div class="part-title">
        <h2 id="event-title" class="grow mono">
          {event.type}
        </h2>
        {isLogged(event) ? (
          <button type="button" class="button" onClick={() => inspector.go({ at: event.seq })}>
            <Icon name="clock" /> Go to record {event.seq}
          </button>
        ) : (
          <span class="badge">not in the log</span>
        )}
        <button
          type="button"
          class="button quiet square"
          aria-label="Close the event"
          onClick={() => (inspector.event.value = null)}
        >
          <Icon name="close" />
        </button>
      </div>
      <p class="faint small">
        <time dateTime={isoTime(event.time)}>{exactTime(event.time)}</time>
      </p>
      <EventJson inspector={inspector} event={event} />
    </section>
  )
}
