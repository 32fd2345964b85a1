import type { JSX } from 'preact'
import type { Tag } from '../../../../../../src/protocol/braking.ts'
import { stillChanged } from '../../../../../../src/conversation/brakes/evidence.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { FoldRow, MemoRow, NoticeRow, TagRow } from '../../model/conversation/graphRow.ts'
import { workWords, type HiddenWork } from '../../model/conversation/hiddenWork.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { byPolicy, counted, savings } from '../../../../../charts/src/amounts.ts'
import type { Economics } from '../../../../../../src/protocol/economics.ts'
import { AgentLink } from './conversationCall.tsx'
import type { TextState } from './conversationMessage.tsx'
import { LongText } from '../../parts/longText.tsx'

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

/** Formats a span of nodes: `n4–n9`, or `n4` for one. */
function span(ids: readonly NodeId[]): string {
  const first = ids[0]
  const last = ids.at(-1)
  if (first === undefined || last === undefined) return ''
  return first === last ? formatNodeId(first) : `${formatNodeId(first)}–${formatNodeId(last)}`
}

export interface TagBodyProps {
  readonly row: TagRow
  readonly isOpen: boolean
  readonly toggle: JSX.Element | null
  /** Number of rows of the branch that are not shown. */
  readonly hidden: number
  /** Work done in these rows. */
  readonly work: HiddenWork | undefined
  readonly text: TextState
}

/** The note that a revert left, and the branch that it abandoned. */
export function TagBody({ row, isOpen, toggle, hidden, work, text }: TagBodyProps): JSX.Element {
  const { tag, target, by, policy, category } = row
  const { abandoned } = tag
  return (
    <div class="conversation-note is-tag">
      <div class="conversation-head">
        {toggle}
        <span class={`badge ${tag.kind === 'lesson' ? 'warn' : 'accent'}`}>{capital(tag.kind)}</span>
        <span class="muted">
          {policy !== undefined ? `policy ${policy}` : by === 'person' ? 'a person' : `the ${by}`} went back to{' '}
          {formatNodeId(target)} · {category}
        </span>
        <span class="conversation-meta number">
          {abandoned.length > 0 && (
            <span>
              {!isOpen && hidden > 0 && work !== undefined
                ? `${workWords(work)} · ${span(abandoned)}`
                : `${span(abandoned)} abandoned`}
            </span>
          )}
        </span>
      </div>
      {tag.text.trim() !== '' && <LongText text={tag.text} {...text} />}
      <EvidenceList tag={tag} />
      <Savings economics={row.economics} />
    </div>
  )
}

function EvidenceList({ tag }: { readonly tag: Tag }): JSX.Element | null {
  const { calls, children = [] } = tag.evidence
  const { undone = [], kept = [] } = tag.undo ?? {}
  const changed = stillChanged(tag)
  const verbatim = [...(tag.keepVerbatim ?? []), ...(tag.lastReply === undefined ? [] : [tag.lastReply])]
  if (calls.length + changed.length + children.length + verbatim.length + undone.length + kept.length === 0) return null
  return (
    <dl class="conversation-evidence">
      {calls.length > 0 && (
        <>
          <dt>attempts</dt>
          <dd>
            {calls.map(({ name, attempts, lastError }) => (
              <span class="conversation-tried">
                <span class="mono">{name}</span>
                {attempts > 1 && <span class="muted"> {formatCount(attempts)} times</span>}
                {lastError !== undefined && <bdi class="is-bad"> {lastError}</bdi>}
              </span>
            ))}
          </dd>
        </>
      )}
      {changed.length > 0 && (
        <>
          <dt>still changed</dt>
          <dd class="mono">{changed.join(', ')}</dd>
        </>
      )}
      {undone.length > 0 && (
        <>
          <dt>undone</dt>
          <dd class="mono">{undone.join(', ')}</dd>
        </>
      )}
      {kept.length > 0 && (
        <>
          <dt>not undone</dt>
          <dd>
            {kept.map(({ what, why }) => (
              <span class="conversation-tried">
                <span class="mono">{what}</span> <span class="muted">{why}</span>
              </span>
            ))}
          </dd>
        </>
      )}
      {children.length > 0 && (
        <>
          <dt>sub-agents</dt>
          <dd>
            {children.map(({ agentId, aborted }) => (
              <span class="conversation-tried">
                <AgentLink agentId={agentId} /> <span class="muted">{aborted ? 'aborted' : 'still running'}</span>
              </span>
            ))}
          </dd>
        </>
      )}
      {verbatim.length > 0 && (
        <>
          <dt>quoted</dt>
          <dd class="mono">{verbatim.map(formatNodeId).join(', ')}</dd>
        </>
      )}
    </dl>
  )
}

/** Tokens that a change frees, and the number of requests after which it has paid. */
function Savings({ economics }: { readonly economics: Economics | undefined }): JSX.Element | null {
  if (economics === undefined) return null
  const title = `The next request has ${counted(economics.rewritten, 'token')} that are not in the cache.`
  return (
    <p class="conversation-savings muted" title={title}>
      {savings(economics)}
    </p>
  )
}

export interface FoldBodyProps {
  readonly row: FoldRow
  readonly isInForce: boolean
  readonly toggle: JSX.Element | null
  readonly hidden: number
  readonly text: TextState
}

/** A summary, and the span it stands for. */
export function FoldBody({ row, isInForce, toggle, hidden, text }: FoldBodyProps): JSX.Element {
  const { overlay, tokensBefore, tokensAfter, isPinned = false } = row
  return (
    <div class="conversation-note is-fold">
      <div class="conversation-head">
        {toggle}
        <span class="badge accent">Compacted</span>
        {isPinned && <span class="badge accent">pinned</span>}
        <span class="muted">
          {span([overlay.from, overlay.to])}
          {hidden > 0 ? `, ${counted(hidden, 'row')} folded` : ''}
          {isInForce ? '' : ', no longer in force'}
        </span>
        <span class="conversation-meta number">
          {tokensBefore > 0 && (
            <span>
              {formatCount(tokensBefore)} → {formatCount(tokensAfter)} tok
            </span>
          )}
          <span class="conversation-id">{formatNodeId(overlay.nodeId)}</span>
        </span>
      </div>
      <LongText text={overlay.summary} lines={6} chars={600} {...text} />
      <Savings economics={row.economics} />
    </div>
  )
}

/** Steps that a prune or mask hid from the model, or that a fold put in a few lines. */
export function MemoBody({ row, text }: { readonly row: MemoRow; readonly text: TextState }): JSX.Element {
  const { outcome, memo, mergedInto } = row
  const { steps, tokens, by, policy, index, masked, economics } = outcome
  const named = steps.slice(0, 8).map(formatNodeId).join(', ')
  const isFold = by === 'runtime' && masked !== true
  return (
    <div class="conversation-note is-memo">
      <div class="conversation-head">
        <span class={`badge ${isFold ? 'accent' : 'warn'}`}>
          {masked === true ? 'Masked' : isFold ? 'Folded' : 'Pruned'}
        </span>
        <span class="muted">
          {isFold
            ? `${counted(steps.length, 'step')} of ${span(steps)}; the model can recall them`
            : `${masked === true ? 'results of ' : ''}${counted(steps.length, 'step')} (${named}${steps.length > 8 ? ', …' : ''}) hidden from the model`}
          {byPolicy(policy)}
        </span>
        <span class="conversation-meta number">−{formatCount(tokens)} tok</span>
      </div>
      {mergedInto !== undefined && <p class="muted">The memo at {formatNodeId(mergedInto)} replaces this one.</p>}
      {memo !== undefined && memo.trim() !== '' && <LongText text={memo} lines={6} chars={600} {...text} />}
      {index !== undefined && <NameIndex index={index} />}
      <Savings economics={economics} />
    </div>
  )
}

/** The index that came with a fold; the index of the next fold replaces it. */
function NameIndex({ index }: { readonly index: string }): JSX.Element {
  const names = index.split('\n').reduce((sum, line) => sum + line.split(' ').length - 1, 0)
  return (
    <details class="conversation-thought">
      <summary onClick={(event) => event.stopPropagation()}>
        Index at this fold: {counted(names, 'name')} found only in hidden steps
      </summary>
      <LongText text={index} lines={12} chars={1_200} />
    </details>
  )
}

/** An event between messages. */
export function NoticeBody({ row }: { readonly row: NoticeRow }): JSX.Element {
  return (
    <p class={`conversation-notice is-${row.tone}`}>
      {row.text} {row.link !== undefined && <AgentLink agentId={row.link} />}
    </p>
  )
}
