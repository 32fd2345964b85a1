import { dollars } from '../../../../../charts/src/amounts.ts'
import { standingOf, standingWords, type Standing, type StandingFacts } from '../../../../../charts/src/standing.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { metadataText } from '../../../../../words/src/metadataText.ts'
import type { AgentViewState, SourceView } from '../../model/agent/agentView.ts'
import { nameOf } from '../../model/sessions/agentNames.ts'
import { sourceWords, useWords } from '../../model/events/useWords.ts'
import { formatCompact } from '../../model/words/numbers.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { forDisplay, oneLine } from '../../model/words/shortText.ts'
import { costsOf, viewStanding, waitsBelow } from '../../model/agent/viewStanding.ts'
import { retry } from '../../model/agent/retry.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { Icon } from '../../parts/icon.tsx'
import { StateDot } from '../../parts/stateDot.tsx'
import type { HeaderActionsProps } from './headerActions.tsx'
import { HeaderActions } from './laterDoing.tsx'
import { isAtWork, NowLine } from './nowLine.tsx'

/** Returns the reason why an agent is paused, if its state does not say everything. */
function pauseText({ pause, chartState }: AgentViewState): string | null {
  if (chartState !== 'paused' || pause === null) return null
  switch (pause.type) {
    case 'limit':
    case 'approvals':
      // The badge says so.
      return null
    case 'timer':
      return `asleep until ${new Date(pause.until).toLocaleString()}`
    case 'store':
      return pause.error.message
    case 'stall':
      return `in circles: ${pause.evidence}`
    case 'interrupted':
      return 'its process died during a run'
  }
}

/** Returns true for a source that the header shows; the others are among the details. */
const isTroubled = ({ state = 'up', trouble }: SourceView): boolean =>
  trouble !== undefined || (state !== 'up' && state !== 'idle')

const tones: Readonly<Record<Standing, string>> = {
  waiting: 'warn',
  failed: 'bad',
  paused: 'warn',
  working: 'accent',
  idle: '',
  ended: '',
}

const dots: Partial<Readonly<Record<Standing, string>>> = { waiting: 'waiting', failed: 'failed' }

/** Longest title in the document, in UTF-16 units; the header cuts a title that has no room. */
const longestTitle = 200

/** Head of a view: the agent, its state, its activity and its cost. */
export function AgentHeader(props: HeaderActionsProps) {
  const { inspector, view } = props
  const state = view.state.value
  const { status, at, isRunning, chartState, created } = state
  const title = state.title ?? inspector.attached.value.directory.agents.value.get(view.agentId)?.title
  const parent = created?.path.at(-1)
  const caller = parent === undefined ? undefined : inspector.attached.value.directory.agents.value.get(parent)
  return (
    <div class="agent-header">
      <div class="agent-title">
        {parent === undefined ? null : (
          <a class="faint cut agent-parent" href={`#agent=${encodeURIComponent(parent)}`} title={`Called by ${parent}`}>
            <bdi>{caller === undefined ? forDisplay(parent) : nameOf(caller)}</bdi>
          </a>
        )}
        <h1 class="cut" dir="auto" title={title === undefined ? undefined : oneLine(title, longestTitle)}>
          {title === undefined ? forDisplay(view.agentId) : oneLine(title, longestTitle)}
        </h1>
        {status === 'error' ? null : <StateBadge inspector={inspector} view={view} />}
        <Below inspector={inspector} view={view} />
        {at === null ? null : (
          <span class="badge accent past" title={`As of record ${at}`}>
            <span class="cut">as of record {at}</span>
          </span>
        )}
        {!isRunning && status !== 'loading' && status !== 'error' && chartState !== 'stopped' ? (
          <span class="badge" title="Not running. A prompt starts it if the server has its definition.">
            at rest
          </span>
        ) : null}
        <span class="grow" />
        {status === 'error' ? null : <HeaderActions {...props} />}
      </div>
      <About inspector={inspector} view={view} />
      <NowLine inspector={inspector} view={view} />
    </div>
  )
}

/** Returns the facts without the running calls, which are named below. */
function withoutCalls({ doing: _, ...facts }: StandingFacts): StandingFacts {
  return facts
}

type PartProps = Pick<HeaderActionsProps, 'inspector' | 'view'>

function StateBadge({ inspector, view }: PartProps) {
  const state = view.state.value
  const { chartState, consulting, waitsFor, status } = state
  const facts = viewStanding(state, inspector.attached.value.directory.agents.value.get(view.agentId))
  const standing = standingOf(facts)
  const words =
    status === 'loading'
      ? 'loading'
      : consulting !== null
        ? `asking policy ${consulting.policy}`
        : waitsFor !== null
          ? `waiting for ${waitsFor}`
          : standingWords(isAtWork(state) ? withoutCalls(facts) : facts)
  const { error } = facts.last ?? {}
  const why = standing === 'failed' && error !== undefined ? error.message : undefined
  return (
    <>
      <span
        class={`badge state ${status === 'loading' ? '' : tones[standing]}`}
        data-state={status === 'loading' ? 'loading' : chartState}
        title={why === undefined ? `${standingWords(facts)} (${chartState})` : oneLine(why, longestTitle)}
      >
        <StateDot state={dots[standing] ?? chartState} />
        <span class="cut">{words}</span>
      </span>
      {standing === 'failed' && state.at === null ? (
        <ControlButton
          why={inspector.controls.value.prompt}
          label="Retry from where it failed"
          onUse={() =>
            void inspector.attempt(() => retry(inspector.attached.value.connection.client.agent(view.agentId)))
          }
        >
          <Icon name="refresh" /> Retry
        </ControlButton>
      ) : null}
    </>
  )
}

/** Link to the items below the agent that wait for a person. */
function Below({ view }: PartProps) {
  const { pending } = view.state.value
  const words = waitsBelow(pending, view.agentId)
  const first = pending.find(({ agentId }) => agentId !== view.agentId)
  if (first === undefined) return null
  return (
    <a
      class="badge warn"
      href={`#agent=${encodeURIComponent(first.agentId)}`}
      title={`From sub-agents; the first: ${forDisplay(first.agentId)}`}
    >
      <Icon name="warning" /> {words}
    </a>
  )
}

/** Definition, model and origin of the agent, and its usage. */
function About({ inspector, view }: PartProps) {
  const state = view.state.value
  const { status, spent, definition, created, use, sources } = state
  if (status === 'error' || status === 'loading') return <p class="agent-line" />
  const { forkedFrom: source, metadata } = created ?? {}
  const why = pauseText(state)
  const { usage } = spent
  const worker = inspector.attached.value.directory.agents.value.get(view.agentId)?.worker
  return (
    <p class={`agent-line muted cut number ${isAtWork(state) ? 'is-at-work' : ''}`}>
      {definition === view.agentId ? '' : `${forDisplay(definition)} · `}
      <span class="mono">{forDisplay(view.agentId)}</span>
      {created === null ? '' : ` · ${created.model}`}
      {why === null ? null : <span class="why"> · {why}</span>}
      {use === null ? '' : ` · uses ${useWords(use)}`}
      {worker === undefined ? '' : ` · on ${worker}`}
      {metadata === undefined ? '' : ` · ${metadataText(metadata)}`}
      {source === undefined ? null : (
        <>
          {' '}
          · fork of <a href={`#agent=${encodeURIComponent(source.agentId)}&at=${source.seq}`}>
            {source.agentId}
          </a> at{' '}
          {formatNodeId(source.at)} (
          <a href={formatRoute({ ...emptyRoute, agent: view.agentId, with: source.agentId })}>compare</a>)
        </>
      )}
      {sources.filter(isTroubled).map((one) => (
        <span key={one.source} class="why" title={one.tools.join(', ')}>
          {` · ${sourceWords(one)}`}
        </span>
      ))}
      {` · ${spent.turns} ${spent.turns === 1 ? 'turn' : 'turns'} · ${formatCompact(usage.input + usage.cacheRead + usage.cacheWrite)} in · ${formatCompact(usage.output)} out · `}
      <Cost inspector={inspector} view={view} />
    </p>
  )
}

/** Cost of the agent itself, and of its tree. */
function Cost({ inspector, view }: PartProps) {
  const { own, tree } = costsOf(view.state.value, inspector.attached.value.directory.agents.value.get(view.agentId))
  if (tree === 0) return <>–</>
  return dollars(own) === dollars(tree) ? <>{dollars(own)}</> : <>{`${dollars(own)} own · ${dollars(tree)} tree`}</>
}
