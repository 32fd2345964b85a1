import type { JSX } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { ToolResultMessage } from '../../../../../../src/protocol/messages.ts'
import { textOf } from '../../../../../../src/protocol/text/messageText.ts'
import { editOf } from '../../../../../charts/src/text/edits.ts'
import { DiffView, EditSize } from '../../parts/diffView.tsx'
import type { CallRow } from '../../model/conversation/graphRow.ts'
import { tookWords } from '../../../../../charts/src/amounts.ts'
import { knownOutcome } from '../../../../../charts/src/toolLine.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { argumentsLine, jsonOf, oneLine } from '../../model/words/shortText.ts'
import { policyTitle, PrunedBadge } from '../../parts/prunedBadge.tsx'
import { AgentNames } from '../../parts/agentNames.ts'
import { KeptBadge, KeptResults } from '../calls/keptResults.tsx'
import { Media } from './conversationMedia.tsx'
import { JsonText, LongText } from '../../parts/longText.tsx'
import { stopping } from '../../parts/stopping.ts'

export interface CallBodyProps {
  readonly row: CallRow
  readonly isOpen: boolean
  readonly toggle: JSX.Element | null
  readonly onToggle: () => void
}

/** A tool call: one line, and its input and its result when it is open. */
export function CallBody({ row, isOpen, toggle, onToggle }: CallBodyProps): JSX.Element {
  const { name, input, nodeId, childId, result, took, pruned, isMasked, maskedBy } = row
  const state = stateOf(row)
  const edit = useMemo(() => editOf(name, input), [name, input])
  return (
    <>
      <div class="conversation-head is-call" onDblClick={stopping(onToggle)}>
        {toggle}
        <CallMark tone={state.tone} />
        <span class="conversation-tool mono">{name}</span>
        {!isOpen && (
          <span class="conversation-arguments mono cut">
            {edit === undefined ? argumentsLine(input) : oneLine(edit.path)}
          </span>
        )}
        {!isOpen && edit !== undefined && <EditSize edit={edit} />}
        {!isOpen && result !== undefined && (
          <span class={`conversation-outcome cut ${result.isError ? 'is-bad' : ''}`}>
            <bdi>{oneLine(knownOutcome({ name, message: result }) ?? textOf(result.content))}</bdi>
          </span>
        )}
        {result !== undefined && <KeptBadge of={result} />}
        {state.text !== undefined && <span class={`badge ${state.badge}`}>{state.text}</span>}
        {pruned === undefined && isMasked === true && (
          <span class="badge warn" title={policyTitle(maskedBy)}>
            masked
          </span>
        )}
        {pruned !== undefined && <PrunedBadge pruned={pruned} />}
        {childId !== undefined && <AgentLink agentId={childId} />}
        <span class="conversation-meta number">
          {took !== undefined && <span>{tookWords(took)}</span>}
          <span class="conversation-id">{formatNodeId(nodeId)}</span>
        </span>
      </div>
      {row.progress !== undefined && result === undefined && (
        <div class="conversation-progress mono cut">{progressText(row.progress)}</div>
      )}
      {isOpen && (
        <div class="conversation-call" onClick={(event) => event.stopPropagation()}>
          <section>
            <p class="conversation-part">Input</p>
            {edit === undefined ? <JsonText value={input} lines={16} chars={2_000} /> : <DiffView edit={edit} />}
          </section>
          {result !== undefined && <Result result={result} />}
        </div>
      )}
    </>
  )
}

function Result({ result }: { readonly result: ToolResultMessage }): JSX.Element {
  const text = textOf(result.content)
  return (
    <section class={result.isError ? 'is-bad' : ''}>
      <p class="conversation-part">{result.isError ? 'Error' : 'Result'}</p>
      {text === '' ? <p class="muted">no text</p> : <LongText text={text} kind="code" lines={16} chars={2_000} />}
      <Media content={result.content} />
      <KeptResults of={result} showsPictures />
      {result.changed !== undefined && result.changed.length > 0 && (
        <p class="conversation-changed">
          Changed: <span class="mono">{result.changed.join(', ')}</span>
        </p>
      )}
    </section>
  )
}

/** Link to an agent's own view. */
export function AgentLink({ agentId }: { readonly agentId: string }): JSX.Element {
  const name = useContext(AgentNames)(agentId)
  return (
    <a
      class="conversation-agent cut"
      href={formatRoute({ ...emptyRoute, agent: agentId })}
      title={`Go to ${agentId}`}
      onClick={(event) => event.stopPropagation()}
    >
      {oneLine(name, 80)}
    </a>
  )
}

interface CallState {
  readonly tone: 'good' | 'bad' | 'busy' | 'waiting' | 'quiet'
  readonly text?: string
  readonly badge?: string
}

const synthetic: Readonly<Record<NonNullable<ToolResultMessage['synthetic']>, string>> = {
  aborted: 'aborted',
  skipped: 'skipped',
  denied: 'denied by a person',
  interrupted: 'interrupted',
  refused: 'refused',
  answered: 'answered by a hook',
}

function stateOf({ status, result }: CallRow): CallState {
  if (result !== undefined) {
    if (result.synthetic !== undefined) return { tone: 'quiet', text: synthetic[result.synthetic], badge: 'warn' }
    return result.isError ? { tone: 'bad', text: 'failed', badge: 'bad' } : { tone: 'good' }
  }
  switch (status) {
    case 'held':
      return { tone: 'waiting', text: 'waiting for you', badge: 'warn' }
    case 'denied':
      return { tone: 'quiet', text: 'denied', badge: 'warn' }
    case 'running':
      return { tone: 'busy', text: 'running', badge: 'accent' }
    case 'pending':
      return { tone: 'quiet', text: 'not started' }
    case 'ended':
      return { tone: 'good' }
  }
}

function CallMark({ tone }: { readonly tone: CallState['tone'] }): JSX.Element {
  return (
    <svg class={`conversation-state is-${tone}`} width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      {tone === 'good' && <path d="M3 7.5 6 10l5-6" />}
      {tone === 'bad' && <path d="m4 4 6 6m0-6-6 6" />}
      {tone === 'waiting' && <path d="M5 4v6m4-6v6" />}
      {tone === 'busy' && <circle cx="7" cy="7" r="4.5" />}
      {tone === 'quiet' && <path d="M4 7h6" />}
    </svg>
  )
}

const progressText = (progress: unknown): string =>
  oneLine(typeof progress === 'string' ? progress : jsonOf(progress), 240)
