import { age, dollars, duration, money } from '../../../../../charts/src/amounts.ts'
import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'
import { aboutOf, nameOf } from '../../model/sessions/agentNames.ts'
import { exactTime } from '../../model/words/dayTime.ts'
import { formatShare } from '../../model/words/numbers.ts'
import type { Alarm } from '../../model/sessions/alarm.ts'
import { detailOf } from '../../model/sessions/causes.ts'
import { loopTarget } from '../../model/sessions/goBack.ts'
import { contextShare, type OverviewRow } from '../../model/sessions/overview.ts'
import { answersInRow } from '../../model/calls/answersInRow.ts'
import { isToldWhole, pendingWords } from '../../model/calls/pendingWords.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { StateDot } from '../../parts/stateDot.tsx'

/** An action of a person on a row. */
export type RowAct = 'approve' | 'deny' | 'answer' | 'open' | 'retry' | 'resume' | 'goBack' | 'say'

export interface HomeRowProps {
  readonly row: OverviewRow
  readonly index: number
  /** The item that waits, once it is read. */
  readonly pending: Pending | undefined
  readonly now: number
  readonly isActive: boolean
  readonly isOpen: boolean
  /** Reason why no action is possible; `null` if one is. */
  readonly why: string | null
  /** True for a row below a cause that it shares with others. */
  readonly isBelow: boolean
  readonly alarm: Alarm
  /** Recent spending in US dollars per minute; 0 if it is not known. */
  readonly rate: number
  readonly onChoose: () => void
  /** Called with the action. `value`: value of an answer. */
  readonly onAct: (act: RowAct, value?: unknown) => void
}

/** One agent of the overview, on one line. */
export function HomeRow(props: HomeRowProps) {
  const { row, index, pending, now, isActive, isBelow, alarm, rate, onChoose } = props
  const { of, standing } = row
  const since = pending?.askedAt ?? row.since
  const isWorking = standing === 'working'
  const passed = since === 0 ? '' : isWorking ? duration(now - since) : age(now - since)
  return (
    <div
      class={`home-row is-${standing} ${isActive ? 'active' : ''} ${isBelow ? 'is-below' : ''}`}
      role="row"
      id={`overview-${index}`}
      aria-selected={isActive}
      onClick={onChoose}
    >
      <span class="home-name" role="gridcell">
        <StateDot state={row.isSession ? atRest(row.words) : standing} />
        <bdi class="cut home-title">{nameOf(of)}</bdi>
        <bdi class="cut faint small home-about">{aboutOf(of)}</bdi>
        {row.failedBelow === 0 ? null : (
          <span class="badge bad" title="Sub-agents whose last run failed">
            {row.failedBelow} failed below
          </span>
        )}
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
        {isWorking && alarm === 'unlimited' ? <span class="badge bad">no limit set</span> : null}
        <span class="home-acts" role="gridcell" onClick={(event) => event.stopPropagation()}>
          <Acts {...props} />
        </span>
      </span>
      <span class="home-time number faint" role="gridcell" title={since === 0 ? undefined : exactTime(since)}>
        {passed}
        {passed === '' || isWorking ? '' : ' ago'}
      </span>
      <Context share={contextShare(of)} />
      <span class={`home-cost number ${alarm === null ? 'faint' : 'is-alarming'}`} role="gridcell">
        <span>{money(row.costUsd)}</span>
        {!isWorking || rate < leastRate ? null : ` · ${dollars(rate)}/min`}
      </span>
    </div>
  )
}

/** Returns the mark that goes with the words of a session. */
const atRest = (words: string): string => words.split(/[: ]/, 1)[0]!

/** Rate in US dollars per minute below which it is not shown. */
const leastRate = 0.005

const Context = ({ share }: { readonly share: number }) => (
  <span class="home-context number faint" role="gridcell">
    {share < 0.01 ? null : (
      <>
        {formatShare(share)}
        <i class="home-bar" aria-hidden="true">
          <i style={{ width: `${Math.min(100, 100 * share)}%` }} />
        </i>
      </>
    )}
  </span>
)

/** Words of an item beside the buttons: a warning that it cannot be undone comes before text that may be cut off. */
const PendingWords = ({ pending }: { readonly pending: Pending }) => (
  <>
    {pending.kind === 'approval' && pending.irreversible ? <span class="badge warn">cannot be undone</span> : null}{' '}
    <bdi class="mono">{pendingWords(pending)}</bdi>
  </>
)

function What({ row, pending }: Pick<HomeRowProps, 'row' | 'pending'>) {
  const { words, standing } = row
  if (row.pending !== null) return pending === undefined ? words : <PendingWords pending={pending} />
  if (standing !== 'failed' && standing !== 'paused') return <bdi>{words}</bdi>
  return (
    <>
      <span class={`badge ${standing === 'failed' ? 'bad' : 'warn'}`}>{words}</span> <bdi>{detailOf(row)}</bdi>
    </>
  )
}

function Acts({ row, pending, isActive, isOpen, why, onAct }: HomeRowProps) {
  const name = nameOf(row.of)
  // One stop of the Tab key a row, that of the row that is chosen.
  const button = (act: RowAct, label: string, kind: 'primary' | 'danger' | '' = '', value?: unknown) => (
    <ControlButton
      key={label}
      why={act === 'open' ? null : why}
      kind={kind}
      label={`${label}: ${pending === undefined ? name : pendingWords(pending)}`}
      class="slim"
      tabIndex={isActive ? 0 : -1}
      isExpanded={act === 'open' ? isOpen : undefined}
      onUse={() => onAct(act, value)}
    >
      {label}
    </ControlButton>
  )
  if (row.pending !== null) {
    if (pending === undefined) return null
    // The card below has them, too.
    if (isOpen) return button('open', 'Less')
    const quick = why === null ? answersInRow(pending) : undefined
    if (quick !== undefined) return <>{quick.map(({ label, value }) => button('answer', label, 'primary', value))}</>
    if (pending.kind !== 'approval') return button('open', 'Answer', 'primary')
    return (
      <>
        {button('open', 'More')}
        {button('deny', 'Deny', 'danger')}
        {isToldWhole(pending) ? button('approve', 'Approve', 'primary') : null}
      </>
    )
  }
  if (row.standing === 'failed') return button('retry', 'Retry')
  if (row.standing !== 'paused') return null
  const target = loopTarget(row)
  return (
    <>
      {target === undefined ? null : (
        <>
          {button('say', 'Say something')}
          {button('goBack', `Go back to ${target}`)}
        </>
      )}
      {button('resume', 'Resume')}
    </>
  )
}
