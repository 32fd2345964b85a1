import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { requestChange, type RequestChange } from '../../conversation/requestChange.ts'
import type { ModelRequest } from '../../protocol/model.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { RequestView } from '../model/agentView.ts'
import { formatCount, formatShare } from '../model/numbers.ts'
import { requestTokens, requestUsage } from '../model/requestSize.ts'
import { counted } from '../../charts/amounts.ts'

export interface RequestSummaryProps {
  readonly now: RequestView
  readonly request: ModelRequest
  readonly before: RequestView | undefined
  readonly old: ModelRequest | undefined
  readonly records: readonly LogRecord[]
}

/** What was sent to whom, what it cost in tokens, and what changed since the request before. */
export function RequestSummary({ now, request, before, old, records }: RequestSummaryProps): JSX.Element {
  const usage = requestUsage(records, now)
  const tokens = useMemo(() => requestTokens(request), [request])
  const change = useMemo(
    () => (old === undefined ? undefined : requestChange({ request: old }, { request, kept: now.kept })),
    [request, old],
  )
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
      {change === undefined || before === undefined ? (
        <p class="muted">The first request there is: nothing to compare it with.</p>
      ) : (
        <ChangeLine change={change} since={before.turnIndex + 1} />
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

function ChangeLine({ change, since }: { readonly change: RequestChange; readonly since: number }): JSX.Element {
  const { kept, gone, added, system, settings, tools } = change
  const frame = [
    ...(system ? ['system prompt'] : []),
    ...(settings ? ['settings'] : []),
    ...tools.added.map((name) => `tool ${name} added`),
    ...tools.removed.map((name) => `tool ${name} gone`),
    ...tools.changed.map((name) => `tool ${name} changed`),
  ]
  return (
    <p class="request-change number">
      <span class="muted">Since turn {since}:</span>
      <span class="request-mark is-kept">= {counted(kept, 'message')} the same from the beginning</span>
      {added > 0 && <span class="request-mark is-new">+ {formatCount(added)} after them</span>}
      {gone > 0 && <span class="request-mark is-gone">− {formatCount(gone)} of before</span>}
      {frame.length > 0 && <span class="badge warn">changed: {frame.join(', ')}</span>}
    </p>
  )
}
