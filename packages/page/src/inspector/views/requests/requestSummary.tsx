import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ModelRequest } from '../../../../../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import type { RequestView } from '../../model/agent/agentView.ts'
import { formatCount, formatShare } from '../../model/words/numbers.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { markCounts } from '../../model/requests/requestMarks.ts'
import type { ComparedRequest } from '../../model/requests/requestRows.ts'
import { requestTokens, requestUsage } from '../../model/requests/requestSize.ts'
import { counted } from '../../../../../charts/src/amounts.ts'

/** A kind of change that a request can have. */
export type ChangeKind = 'new' | 'gone' | 'frame'

export interface RequestSummaryProps {
  readonly now: RequestView
  readonly request: ModelRequest
  readonly before: RequestView | undefined
  readonly old: ComparedRequest['old']
  readonly records: readonly LogRecord[]
  /** Shows the first change of a kind. */
  readonly onShow: (kind: ChangeKind) => void
}

/** Model and size of a request, its tokens, and the changes since the request before. */
export function RequestSummary({ now, request, before, old, records, onShow }: RequestSummaryProps): JSX.Element {
  const usage = requestUsage(records, now)
  const tokens = useMemo(() => requestTokens(request), [request])
  const sent = usage === undefined ? 0 : usage.input + usage.cacheRead + usage.cacheWrite
  const share = usage === undefined || sent === 0 ? undefined : usage.cacheRead / sent
  return (
    <div class="request-summary">
      <dl class="request-facts number">
        <Fact name="Model" value={now.model} />
        <Fact name="Messages" value={formatCount(request.messages.length)} />
        <Fact name="Tokens in" value={sent > 0 ? formatCount(sent) : `≈ ${formatCount(tokens)}`} />
        <Fact name="Tokens out" value={usage === undefined ? '–' : formatCount(usage.output)} />
        <Fact name="Cached" value={share === undefined ? '–' : formatShare(share)}>
          {share !== undefined && (
            <svg class="request-share" width="48" height="4" aria-hidden="true">
              <rect class="is-rest" width="48" height="4" rx="2" />
              <rect class="is-share" width={Math.round(48 * share)} height="4" rx="2" />
            </svg>
          )}
        </Fact>
      </dl>
      {old === undefined || before === undefined ? (
        <p class="muted">This is the first request; there is nothing to compare it with.</p>
      ) : (
        <ChangeLine old={old} since={before.turnIndex + 1} onShow={onShow} />
      )}
    </div>
  )
}

interface FactProps {
  readonly name: string
  readonly value: string
  readonly children?: JSX.Element | false
}

const Fact = ({ name, value, children }: FactProps): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd title={value}>
      {value}
      {children}
    </dd>
  </div>
)

interface ChangeLineProps extends Pick<RequestSummaryProps, 'onShow'> {
  readonly old: NonNullable<ComparedRequest['old']>
  readonly since: number
}

function ChangeLine({ old, since, onShow }: ChangeLineProps): JSX.Element {
  const { kept, system, settings, tools } = old.change
  const { moved, added, gone } = markCounts(old.marks)
  const frame = [
    ...(system ? ['system prompt'] : []),
    ...(settings ? ['settings'] : []),
    ...tools.added.map((name) => `tool ${name} added`),
    ...tools.removed.map((name) => `tool ${name} removed`),
    ...tools.changed.map((name) => `tool ${name} changed`),
  ]
  const link = (kind: ChangeKind, words: string, look = `request-mark is-${kind}`): JSX.Element => (
    <button type="button" class={`request-link ${look}`} title="Show it" onClick={() => onShow(kind)}>
      {words}
    </button>
  )
  return (
    <p class="request-change number">
      <span class="muted">Since turn {since}:</span>
      <span class="request-mark is-kept">= {counted(kept, 'message')} unchanged</span>
      {moved > 0 && (
        <span class="request-mark is-moved" title="The cache has them no more: something before them is different">
          ≈ {formatCount(moved)} unchanged, but after a change
        </span>
      )}
      {added > 0 && link('new', `+ ${formatCount(added)} added`)}
      {gone > 0 && link('gone', `− ${formatCount(gone)} removed`)}
      {frame.length > 0 && link('frame', `changed: ${forDisplay(frame.join(', '))}`, 'badge warn')}
    </p>
  )
}
