import type { ComponentChildren } from 'preact'
import { useCallback } from 'preact/hooks'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { ViewName } from '../../model/shell/route.ts'
import { later } from '../../parts/later.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { nameInTree } from '../../model/sessions/treeNames.ts'
import { AgentNames } from '../../parts/agentNames.ts'
import { AgentHeader } from './agentHeader.tsx'
import type { AgentDialog } from './headerActions.tsx'
import { ConversationPane } from '../conversation/conversationPane.tsx'
import { PendingBar, PromptBox } from './laterDoing.tsx'
import { TimeSlider } from '../events/timeSlider.tsx'

const tabs: readonly { readonly name: ViewName; readonly label: string }[] = [
  { name: 'conversation', label: 'Conversation' },
  { name: 'chart', label: 'Chart' },
  { name: 'timeline', label: 'Timeline' },
  { name: 'requests', label: 'Requests' },
  { name: 'context', label: 'Context' },
]

const panelId = 'view'

const ChartPane = later('Loading the chart', async () => (await import('../charts/chartPane.tsx')).ChartPane)
const TimelinePane = later(
  'Loading the timeline',
  async () => (await import('../timeline/timelinePane.tsx')).TimelinePane,
)
const ContextPane = later('Loading the context', async () => (await import('../usage/contextPane.tsx')).ContextPane)
const ComparePane = later(
  'Loading the comparison',
  async () => (await import('../branches/comparePane.tsx')).ComparePane,
)
const SearchBar = later('Loading search', async () => (await import('../search/searchBar.tsx')).SearchBar)
const RequestPane = later('Loading the requests', async () => (await import('../requests/requestPane.tsx')).RequestPane)

const Failed = later('Loading the error', async () => (await import('../shell/smallDialogs.ts')).Failed)

export interface AgentPaneProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onOpen: (dialog: AgentDialog) => void
}

/** One agent: its views, the calls that wait, and the field to talk to it. */
export function AgentPane({ inspector, view, onOpen }: AgentPaneProps) {
  const { view: chosen, with: compared } = inspector.route.value
  const isCompared = compared !== null
  const nameOf = useCallback(
    (agentId: string): string => nameInTree(inspector.attached.value.directory, view.state.value.records, agentId),
    [inspector, view],
  )
  return (
    <AgentNames.Provider value={nameOf}>
      <main class="agent" aria-label={`Agent ${view.agentId}`}>
        <AgentHeader inspector={inspector} view={view} onOpen={onOpen} />
        <Tabs
          label="Views"
          tabs={tabs.map((tab) => (tab.name === 'timeline' ? { ...tab, errors: view.errors.length } : tab))}
          chosen={chosen}
          onChoose={(name) => inspector.go({ view: name })}
          panelId={panelId}
        />
        {inspector.isSearching.value || inspector.route.value.q !== null ? (
          <SearchBar inspector={inspector} view={view} />
        ) : null}
        <div class="panel" id={panelId} role="tabpanel" tabIndex={-1} aria-labelledby={`${panelId}-${chosen}`}>
          <Panel inspector={inspector} view={view} />
        </div>
        {isCompared ? null : <TimeSlider inspector={inspector} view={view} />}
        <PendingBar inspector={inspector} view={view} />
        {isCompared ? null : <PromptBox key={view.agentId} inspector={inspector} view={view} />}
      </main>
    </AgentNames.Provider>
  )
}

function Panel({ inspector, view }: { readonly inspector: Inspector; readonly view: FollowedAgent }) {
  const { status, error, lastSeq } = view.state.value
  const { with: other, view: chosen } = inspector.route.value
  if (status === 'error') return <Failed code={error?.code ?? ''} message={error?.message ?? ''} />
  if (status === 'loading' && (chosen !== 'conversation' || other !== null))
    return <Skeleton label="Loading the log" read={lastSeq} />
  const panes: { readonly [V in ViewName]: () => ComponentChildren } = {
    conversation: () => (
      <ConversationPane
        view={view}
        selected={inspector.node}
        onSelect={(node: NodeId | null) => {
          inspector.event.value = null
          inspector.go({ node }, 'replace')
        }}
      />
    ),
    chart: () => <ChartPane inspector={inspector} view={view} />,
    timeline: () => <TimelinePane key={view.agentId} inspector={inspector} view={view} />,
    requests: () => <RequestPane view={view} turn={inspector.turn} />,
    context: () => <ContextPane inspector={inspector} view={view} />,
  }
  return other === null ? panes[chosen]() : <ComparePane key={other} inspector={inspector} view={view} other={other} />
}
