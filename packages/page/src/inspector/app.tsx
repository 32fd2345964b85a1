import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { nameOf } from './model/sessions/agentNames.ts'
import { waitingKeys } from './model/shell/deciding.ts'
import type { FollowedAgent } from './model/agent/followedAgent.ts'
import { ApprovalCard } from './views/calls/laterCards.ts'
import { loadFollow } from './model/agent/laterFollowed.ts'
import type { Inspector } from './model/shell/inspector.ts'
import { keepFocus } from './parts/keepFocus.ts'
import { later, laterDialog, laterPart } from './parts/later.tsx'
import { LiveRegion } from './parts/liveRegion.tsx'
import { Skeleton } from './parts/skeleton.tsx'
import { Tabs } from './parts/tabs.tsx'
import { narrow, useMedia } from './parts/useMedia.ts'
import { listenToKeys } from './shortcuts.ts'
import type { AgentPaneProps } from './views/agent/agentPane.tsx'
import { KeptOfPage } from './views/calls/keptResults.tsx'
import { ConnectionBanner } from './views/shell/connectionBanner.tsx'
import type { DetailsPaneProps } from './views/details/detailsPane.tsx'
import type { GateProps } from './views/shell/gate.tsx'
import type { HostPaneProps } from './views/hosts/hostPane.tsx'
import type { AgentDialog } from './views/agent/headerActions.tsx'
import { preloadDoing } from './views/agent/laterDoing.tsx'
import type { StartProps } from './views/shell/start.tsx'
import { PageHeader } from './views/shell/pageHeader.tsx'
import type { SidebarProps } from './views/sessions/sidebar.tsx'
import type { Connection } from './model/agent/connection.ts'
import { Icon } from './parts/icon.tsx'

const AgentPane = later<AgentPaneProps>(
  'Loading the agent',
  async () => (await import('./views/agent/agentPane.tsx')).AgentPane,
  (content, { view }) => (
    <main class="agent" aria-label={`Agent ${view.agentId}`}>
      {content}
    </main>
  ),
)
const DetailsPane = later<DetailsPaneProps>(
  'Loading the details',
  async () => (await import('./views/details/detailsPane.tsx')).DetailsPane,
  (content) => (
    <section class="details" data-drawer="closed" aria-label="Details">
      {content}
    </section>
  ),
)
const Start = later<StartProps>(
  'Loading the overview',
  async () => (await import('./views/shell/start.tsx')).Start,
  (content) => (
    <main class="agent home" aria-label="Overview">
      {content}
    </main>
  ),
)
const Sidebar = later<SidebarProps>(
  'Loading the agents',
  async () => (await import('./views/sessions/sidebar.tsx')).Sidebar,
  (content) => (
    <nav class="sidebar" id="sidebar" aria-label="Agents and sessions">
      {content}
    </nav>
  ),
)
const HostPane = later<HostPaneProps>(
  'Loading the machine',
  async () => (await import('./views/hosts/hostPane.tsx')).HostPane,
  (content, { id }) => (
    <main class="agent" aria-label={`Machine ${id}`}>
      {content}
    </main>
  ),
)
const Gate = later<GateProps>(
  'Loading the sign-in form',
  async () => (await import('./views/shell/gate.tsx')).Gate,
  (content) => <main class="gate">{content}</main>,
)
const smallDialogs = () => import('./views/shell/smallDialogs.ts')
const PolicyDialog = laterDialog(async () => (await smallDialogs()).PolicyDialog)
const RevertDialog = laterDialog(async () => (await import('./views/conversation/revertDialog.tsx')).RevertDialog)
const CompareDialog = laterDialog(async () => (await smallDialogs()).CompareDialog)
const ExportDialog = laterDialog(async () => (await import('./views/shell/exportDialog.tsx')).ExportDialog)
const ForkDialog = laterDialog(async () => (await smallDialogs()).ForkDialog)
const ShareDialog = laterDialog(async () => (await smallDialogs()).ShareDialog)
const SpawnDialog = laterDialog(async () => (await smallDialogs()).SpawnDialog)
const HelpDialog = laterDialog(async () => (await smallDialogs()).HelpDialog)
const CompactDialog = laterDialog(async () => (await smallDialogs()).CompactDialog)
const PruneDialog = laterDialog(async () => (await import('./views/conversation/revertDialog.tsx')).PruneDialog)
const FirstHint = laterPart(<></>, async () => (await import('./views/sessions/homeMore.tsx')).FirstHint)
const StopDialog = laterDialog(async () => (await smallDialogs()).StopDialog)
const ShownError = laterPart(<></>, async () => (await smallDialogs()).ShownError)

type DialogName = 'help' | 'marks' | 'spawn' | AgentDialog
/** Dialogs about the agent that is shown. */
const agentDialogs: Readonly<Partial<Record<Extract<DialogName, string>, typeof StopDialog>>> = {
  stop: StopDialog,
  compact: CompactDialog,
  policy: PolicyDialog,
  share: ShareDialog,
  compare: CompareDialog,
  export: ExportDialog,
}
/** The part of the page that a narrow screen shows. */
type Part = 'agents' | 'agent' | 'details'

const agentsPart = { name: 'agents', label: 'Agents' } as const
const parts: readonly { readonly name: Part; readonly label: string }[] = [
  agentsPart,
  { name: 'agent', label: 'Agent' },
  { name: 'details', label: 'Details' },
]

/** Fetches the code for the address at once, and returns a function that fetches the rest; neither promise rejects. */
export function fetchViews({ route }: Inspector): () => Promise<unknown> {
  const follow = (): Promise<void> => loadFollow().catch(() => {})
  const ofAgent = (): Promise<unknown> =>
    Promise.all([AgentPane.preload(), preloadDoing(), DetailsPane.preload(), follow()])
  const [shown, other] = route.value.agent === null ? [Start.preload, ofAgent] : [ofAgent, Start.preload]
  void shown()
  void Sidebar.preload()
  return () => Promise.all([other(), ApprovalCard.preload()])
}

/** The whole page. */
export function App({ inspector }: { readonly inspector: Inspector }) {
  const [dialog, setDialog] = useState<DialogName | null>(null)
  const [part, setPart] = useState<Part>('agent')
  const { connection } = inspector.attached.value
  const agent = inspector.agent.value
  const { agent: chosen, host } = inspector.route.value
  const theme = inspector.choices.theme.value
  const isNarrow = useMedia(narrow)
  useLayoutEffect(() => {
    document.documentElement.dataset['theme'] = theme
  }, [theme])
  // The agent's own pane is the main one, unless another stands in its place.
  const shownParts =
    chosen === null ? [agentsPart, { name: 'agent', label: host === null ? 'Overview' : 'Machine' } as const] : parts
  const alone = isNarrow ? parts.find(({ name }) => name === part && name !== 'agent') : undefined
  const close = (): void => setDialog(null)
  const OwnDialog = typeof dialog === 'string' ? agentDialogs[dialog] : undefined
  useEffect(keepFocus, [])
  /** Shows a part of the page and moves the focus to a place in it, before the next key can arrive. */
  const enter = (to: Part, id: string): void => {
    setPart(to)
    const focus = (): void => document.getElementById(id)?.focus()
    focus()
    // It is drawn by then.
    queueMicrotask(focus)
  }
  /** Opens a dialog if `can` is true, and returns `can`, which tells the key handler that the key was used. */
  const ask = (asked: DialogName, can: boolean): boolean => {
    if (can) setDialog(asked)
    return can
  }
  const { value: status } = connection.status
  const isOut = status === 'expired' || status === 'refused'
  useEffect(() => {
    if (isOut) return undefined
    return listenToKeys(inspector, {
      help: () => setDialog('help'),
      compare: () => ask('compare', inspector.agent.value !== null),
      fork: () => {
        const node = inspector.node.value ?? inspector.agent.value?.state.value.conversation.head ?? null
        return node !== null && ask({ fork: node }, inspector.whyNotFork.value === null)
      },
      spawn: () => ask('spawn', connection.may.value('spawn') && connection.definitions.value.length > 0),
      enter,
    })
  }, [inspector, connection, isOut])
  useLayoutEffect(() => {
    setPart('agent')
    // It was about the agent that was shown.
    setDialog(null)
  }, [chosen, host])

  if (isOut) return <Gate inspector={inspector} />
  return (
    <KeptOfPage.Provider value={inspector.kept}>
      <div class="page" data-part={part}>
        <PageHeader inspector={inspector} onHelp={() => setDialog('help')}>
          <nav class="parts" aria-label="Parts of the page">
            <Tabs label="Parts of the page" tabs={shownParts} chosen={part} onChoose={setPart} panelId="part" />
          </nav>
        </PageHeader>
        <div class="notices">
          <ConnectionBanner connection={connection} clock={inspector.clock} />
          {chosen === null ? <FirstHint inspector={inspector} onMarks={() => setDialog('marks')} /> : null}
          {inspector.problems.value.map((problem) => (
            <div key={problem} class="banner warn" role="alert">
              <span class="grow">{problem}</span>
              <button
                type="button"
                class="button quiet"
                onClick={() => (inspector.problems.value = inspector.problems.value.filter((one) => one !== problem))}
              >
                Dismiss
              </button>
            </div>
          ))}
        </div>
        <div
          class="columns"
          style={{
            '--details': `${inspector.choices.details.value}px`,
            '--side': `${inspector.choices.side.value}px`,
          }}
          id="part"
          role={alone === undefined ? undefined : 'main'}
        >
          {alone === undefined ? null : <h1 class="hidden">{alone.label}</h1>}
          <Sidebar inspector={inspector} onSpawn={() => setDialog('spawn')} />
          {agent === null && host !== null ? (
            <HostPane key={host} id={host} inspector={inspector} />
          ) : agent === null && chosen !== null ? (
            <Skeleton label="Loading the agent" />
          ) : agent === null ? (
            <Start inspector={inspector} onSpawn={() => setDialog('spawn')} />
          ) : (
            <>
              <AgentPane inspector={inspector} view={agent} onOpen={setDialog} />
              <DetailsPane inspector={inspector} view={agent} onOpen={setDialog} />
            </>
          )}
        </div>
        <ErrorList connection={connection} />
        <Announcements inspector={inspector} />
        <TabTitle inspector={inspector} />
        {dialog === 'help' || dialog === 'marks' ? (
          <HelpDialog part={dialog === 'help' ? 'keys' : 'marks'} onClose={close} />
        ) : null}
        {dialog === 'spawn' ? <SpawnDialog inspector={inspector} onClose={close} /> : null}
        {OwnDialog === undefined || agent === null ? null : (
          <OwnDialog inspector={inspector} view={agent} onClose={close} />
        )}
        {typeof dialog === 'object' && dialog !== null && agent !== null ? (
          <NodeDialog inspector={inspector} view={agent} dialog={dialog} onClose={close} />
        ) : null}
      </div>
    </KeptOfPage.Provider>
  )
}

/** Sets the tab's title to the number of waiting items and the shown agent. Notifies a person who looks elsewhere of new items. */
function TabTitle({ inspector }: { readonly inspector: Inspector }) {
  const waiting = waitingKeys(inspector)
  const { agent, host } = inspector.route.value
  const summary = agent === null ? undefined : inspector.attached.value.directory.agents.value.get(agent)
  const name =
    agent === null ? (host === null ? '' : `${host} · `) : `${summary === undefined ? agent : nameOf(summary)} · `
  const title = `${waiting.length === 0 ? '' : `(${waiting.length}) `}${name}escapement`
  useEffect(() => {
    document.title = title
  }, [title])
  const keys = waiting.join('\n')
  useEffect(() => inspector.notices.see(waiting), [keys])
  return null
}

interface NodeDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly dialog: Extract<AgentDialog, object>
  readonly onClose: () => void
}

function NodeDialog({ dialog, ...rest }: NodeDialogProps) {
  if ('fork' in dialog) return <ForkDialog {...rest} node={dialog.fork} />
  return 'revert' in dialog ? (
    <RevertDialog {...rest} node={dialog.revert} />
  ) : (
    <PruneDialog {...rest} node={dialog.prune} />
  )
}

function Announcements({ inspector }: { readonly inspector: Inspector }) {
  const status = inspector.attached.value.connection.status.value
  const view = inspector.agent.value?.state.value
  const agent = view === undefined ? '' : `${view.agentId}: ${view.error?.message ?? view.chartState}`
  const asked =
    view === undefined || view.pending.length === 0
      ? ''
      : `, ${view.pending.length === 1 ? '1 call waits' : `${view.pending.length} calls wait`} for you`
  const event = inspector.event.value
  const isOfError = status === 'open' && event !== null && inspector.agent.value?.errors.includes(event) === true
  return (
    <>
      <LiveRegion text={status !== 'open' ? `Connection: ${status}` : isOfError ? '' : `${agent}${asked}`} />
      {isOfError ? <ShownError inspector={inspector} /> : null}
    </>
  )
}

/** The newest errors of the connection, each shown until a person dismisses it. */
function ErrorList({ connection }: { readonly connection: Connection }) {
  const errors = connection.errors.value
  return (
    <div class="errors" role="alert">
      {errors.slice(0, 3).map(({ key, code, message }) => (
        <div key={key} class="error">
          <Icon name="warning" />
          <span class="grow">
            {message} <span class="mono faint">{code}</span>
          </span>
          <button
            type="button"
            class="button quiet square"
            aria-label="Dismiss"
            onClick={() => connection.dismiss(key)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
