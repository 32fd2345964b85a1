import { metadataText } from '../../protocol/metadataText.ts'
import { sourceWords, useWords } from '../model/eventWords.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { money } from '../../charts/amounts.ts'
import { formatCompact } from '../model/numbers.ts'
import { ControlButton } from '../parts/controlButton.tsx'
import { Icon } from '../parts/icon.tsx'
import { StateDot, toneOf } from '../parts/stateDot.tsx'
import type { AgentViewState, SourceView } from '../model/agentView.ts'

/** Why an agent stands still, in words. */
function pauseText({ pause, chartState }: AgentViewState): string | null {
  if (chartState !== 'paused' || pause === null) return null
  switch (pause.type) {
    case 'limit':
      return `limit of ${pause.limit}: ${pause.used} of ${pause.allowed}`
    case 'approvals':
      return 'waits for people'
    case 'store':
      return pause.error.message
    case 'stall':
      return `in circles: ${pause.evidence}`
    case 'interrupted':
      return 'its process died in the middle of a run'
  }
}

/** The others are among the details. */
const isTroubled = ({ state = 'up', trouble }: SourceView): boolean =>
  trouble !== undefined || (state !== 'up' && state !== 'idle')

/** Who is shown, how it is, and what it cost. */
export function AgentHeader({
  inspector,
  view,
  onCompact,
  onAsk,
  onStop,
}: {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onCompact: () => void
  readonly onAsk: () => void
  readonly onStop: () => void
}) {
  const state = view.state.value
  const {
    chartState,
    spent,
    definition,
    status,
    at,
    isRunning,
    records,
    policies,
    consulting,
    waitsFor,
    use,
    sources,
  } = state
  const [created] = records
  const source = created?.type === 'agent.created' ? created.forkedFrom : undefined
  const parent = created?.type === 'agent.created' ? created.path.at(-1) : undefined
  const why = pauseText(state)
  const { usage } = spent
  return (
    <div class="agent-header">
      <div class="agent-title">
        {parent === undefined ? null : (
          <a class="faint cut" href={`#agent=${encodeURIComponent(parent)}`}>
            {parent} /
          </a>
        )}
        <h1 class="cut">{view.agentId}</h1>
        {status === 'error' ? null : (
          <span
            class={`badge state ${toneOf(chartState)}`}
            title={consulting === null && waitsFor === null ? undefined : chartState}
          >
            <StateDot state={chartState} />
            <span class="cut">
              {status === 'loading'
                ? 'loading'
                : consulting !== null
                  ? `asking policy ${consulting.policy}`
                  : waitsFor !== null
                    ? `waiting for ${waitsFor}`
                    : chartState}
            </span>
          </span>
        )}
        {at === null ? null : <span class="badge accent">as of record {at}</span>}
        {!isRunning && status !== 'loading' && status !== 'error' && chartState !== 'stopped' ? (
          <span class="badge" title="Nobody runs it. A prompt wakes it, if the server has its definition.">
            at rest
          </span>
        ) : null}
        <span class="grow" />
        {status === 'error' ? null : (
          <Actions
            inspector={inspector}
            isRunning={isRunning}
            hasPolicies={policies !== null}
            onCompact={onCompact}
            onAsk={onAsk}
            onStop={onStop}
          />
        )}
      </div>
      <p class="agent-line muted cut number" hidden={status === 'error' || status === 'loading'}>
        {definition}
        {created?.type === 'agent.created' ? ` · ${created.model}` : ''}
        {use === null ? '' : ` · uses ${useWords(use)}`}
        {created?.type === 'agent.created' && created.metadata !== undefined
          ? ` · ${metadataText(created.metadata)}`
          : ''}
        {source === undefined ? null : (
          <>
            {' '}
            · fork of <a href={`#agent=${encodeURIComponent(source.agentId)}&at=${source.seq}`}>{source.agentId}</a>
          </>
        )}
        {sources.filter(isTroubled).map((one) => (
          <span key={one.source} class="why" title={one.tools.join(', ')}>
            {` · ${sourceWords(one)}`}
          </span>
        ))}
        {` · ${spent.turns} ${spent.turns === 1 ? 'turn' : 'turns'} · ${formatCompact(usage.input + usage.cacheRead + usage.cacheWrite)} in · ${formatCompact(usage.output)} out · ${money(spent.costUsd)}`}
        {why === null ? null : <span class="why"> · {why}</span>}
      </p>
    </div>
  )
}

interface ActionsProps {
  readonly inspector: Inspector
  readonly isRunning: boolean
  /** Whether it is known which it has. */
  readonly hasPolicies: boolean
  readonly onCompact: () => void
  readonly onAsk: () => void
  readonly onStop: () => void
}

const Actions = ({ inspector, isRunning, hasPolicies, onCompact, onAsk, onStop }: ActionsProps) => (
  <>
    <button
      type="button"
      class="button quiet square"
      aria-label="Time slider"
      title="Time slider (t)"
      aria-pressed={inspector.isTimeOpen.value ?? !isRunning}
      onClick={() => (inspector.isTimeOpen.value = !(inspector.isTimeOpen.value ?? !isRunning))}
    >
      <Icon name="clock" />
    </button>
    <ControlButton
      why={inspector.controls.value.compact}
      onUse={onCompact}
      kind="quiet"
      label="Compact the conversation"
      class="square"
    >
      <Icon name="compact" />
    </ControlButton>
    {hasPolicies ? (
      <ControlButton
        why={inspector.controls.value.brake}
        onUse={onAsk}
        kind="quiet"
        label="Ask a policy"
        class="square"
      >
        <Icon name="policy" />
      </ControlButton>
    ) : null}
    <ControlButton
      why={inspector.controls.value.stop}
      onUse={onStop}
      kind="quiet"
      label="Stop the agent"
      class="square"
    >
      <Icon name="stop" />
    </ControlButton>
  </>
)
