import { age, duration, money } from '../../../../../charts/src/amounts.ts'
import type { AgentSummary, SessionEntry } from '../../../../../../src/protocol/bridge/frames.ts'
import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'
import { aboutOf, nameOf } from '../../model/sessions/agentNames.ts'
import { exactTime } from '../../model/words/dayTime.ts'
import { formatShare } from '../../model/words/numbers.ts'
import type { OverviewRow } from '../../model/sessions/overview.ts'
import { isToldWhole, pendingWords } from '../../model/calls/pendingWords.ts'
import { oneLine } from '../../model/words/shortText.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { StateDot } from '../../parts/stateDot.tsx'

/** An action of a person on a row. */
export type RowAct = 'approve' | 'deny' | 'open' | 'retry' | 'resume'

export interface HomeRowProps {
  readonly row: OverviewRow
  readonly index: number
  /** The item that waits, once it is read. */
  readonly pending: Pending | undefined
  readonly now: number
  readonly isActive: boolean
  readonly isOpen: boolean
  /** Reason why no action is possible; `null`: it is. */
  readonly why: string | null
  readonly onChoose: () => void
  readonly onAct: (act: RowAct) => void
}

/** One agent of the overview, on one line. */
export function HomeRow(props: HomeRowProps) {
  const { row, index, pending, now, isActive, onChoose } = props
  const { of, standing } = row
  const since = pending?.askedAt ?? row.since
  const isWorking = standing === 'working'
  const passed = since === 0 ? '' : isWorking ? duration(now - since) : age(now - since)
  return (
    <div
      class={`home-row is-${standing} ${isActive ? 'active' : ''}`}
      role="row"
      id={`overview-${index}`}
      aria-selected={isActive}
      onClick={onChoose}
    >
      <span class="home-name" role="gridcell">
        <StateDot state={row.isSession ? atRest(row.words) : standing} />
        <bdi class="cut home-title">{nameOf(of)}</bdi>
        <bdi class="cut faint small home-about">{aboutOf(of)}</bdi>
      </span>
      <span class="home-mid" role="presentation">
        <span class="cut home-what" role="gridcell">
          <What row={row} pending={pending} />
        </span>
        {'worker' in of ? (
          <bdi class="cut faint small home-worker" role="gridcell">
            {of.worker}
          </bdi>
        ) : null}
        <span class="home-acts" role="gridcell" onClick={(event) => event.stopPropagation()}>
          <Acts {...props} />
        </span>
      </span>
      <span class="home-time number faint" role="gridcell" title={since === 0 ? undefined : exactTime(since)}>
        {passed}
        {passed === '' || isWorking ? '' : ' ago'}
      </span>
      <span class="home-context number faint" role="gridcell">
        {contextOf(of)}
      </span>
      <span class="home-cost number faint" role="gridcell">
        {money('spent' in of ? (of.treeSpent ?? of.spent).costUsd : of.costUsd)}
      </span>
    </div>
  )
}

/** Returns the mark that goes with the words of a session. */
const atRest = (words: string): string => words.split(/[: ]/, 1)[0]!

function contextOf(of: AgentSummary | SessionEntry): string {
  const tokens = 'contextTokens' in of ? of.contextTokens : undefined
  const share = tokens?.window === undefined || tokens.window === 0 ? 0 : tokens.used / tokens.window
  return share < 0.01 ? '' : `${formatShare(share)} ctx`
}

/** Words of an item beside the buttons: a warning that it cannot be undone comes before text that may be cut off. */
const PendingWords = ({ pending }: { readonly pending: Pending }) => (
  <>
    {pending.kind === 'approval' && pending.irreversible ? <span class="badge warn">cannot be undone</span> : null}{' '}
    <bdi class="mono">{pendingWords(pending)}</bdi>
  </>
)

function What({ row, pending }: Pick<HomeRowProps, 'row' | 'pending'>) {
  const { words, standing, of } = row
  if (row.pending !== null) return pending === undefined ? words : <PendingWords pending={pending} />
  if (standing === 'failed') {
    const message = of.last?.error?.message
    return (
      <>
        <span class="badge bad">{words}</span> {message === undefined ? '' : <bdi>{oneLine(message)}</bdi>}
      </>
    )
  }
  return standing === 'paused' ? <span class="badge warn">{words}</span> : <bdi>{words}</bdi>
}

function Acts({ row, pending, isActive, isOpen, why, onAct }: HomeRowProps) {
  const name = nameOf(row.of)
  // One stop of the Tab key a row, that of the row that is chosen.
  const button = (act: RowAct, label: string, kind: 'primary' | 'danger' | '' = '') => (
    <ControlButton
      why={act === 'open' ? null : why}
      kind={kind}
      label={`${label}: ${pending === undefined ? name : pendingWords(pending)}`}
      class="slim"
      tabIndex={isActive ? 0 : -1}
      isExpanded={act === 'open' ? isOpen : undefined}
      onUse={() => onAct(act)}
    >
      {label}
    </ControlButton>
  )
  if (row.pending !== null) {
    if (pending === undefined) return null
    if (pending.kind !== 'approval') return button('open', 'Answer', 'primary')
    // The card below has them, too.
    if (isOpen) return button('open', 'Less')
    return (
      <>
        {button('open', 'More')}
        {button('deny', 'Deny', 'danger')}
        {isToldWhole(pending) ? button('approve', 'Approve', 'primary') : null}
      </>
    )
  }
  if (row.standing === 'failed') return button('retry', 'Retry')
  return row.standing === 'paused' ? button('resume', 'Resume') : null
}
