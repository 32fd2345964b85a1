import { useLayoutEffect, useState } from 'preact/hooks'
import { age } from '../../../../../charts/src/amounts.ts'
import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'
import { nameOf } from '../../model/sessions/agentNames.ts'
import { decideAll } from '../../model/shell/deciding.ts'
import { targetOf } from '../../model/calls/settledCalls.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { isToldWhole, ofSameTool, pendingWords } from '../../model/calls/pendingWords.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useMedia } from '../../parts/useMedia.ts'
import { useNow } from '../../parts/useNow.ts'
import { ApprovalCard, QuestionCard } from './laterCards.ts'

/** Number of lines below a chart where there is little room. More are folded into one. */
const mostBesideChart = 2

export interface PendingBarProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

/** Items that wait for a person, those of sub-agents included: one line each, the first one in full. */
export function PendingBar({ inspector, view }: PendingBarProps) {
  const { pending } = view.state.value
  const { deciding } = inspector
  const [opened, setOpened] = useState<string | null>(null)
  const [closed, setClosed] = useState<string | null>(null)
  // Where there is little room it is for the conversation.
  const isTall = useMedia('(min-height: 820px)')
  const first = pending[0]
  const inChart = inspector.route.value.view === 'chart'
  /** True while the items are folded by the person; `null` until the person chooses. */
  const [folds, setFolds] = useState<boolean | null>(null)
  const closes = pending.some(({ key }) => key === closed)
  // A card with a person in it, or what one has written, stays there, whatever else comes.
  const inCard = document.activeElement?.closest<HTMLElement>('[data-pending]:has(.approval)')?.dataset['pending']
  const isWritten = (key: string): boolean => deciding.drafts.value.has(key) || deciding.typed.has(key)
  const written = closes ? undefined : pending.find(({ key }) => key === inCard || isWritten(key))?.key
  const isCrowded = inChart && !isTall && pending.length > mostBesideChart && written === undefined
  const isFolded = pending.length > 1 && (folds ?? isCrowded)
  // Before a click can come, which it would undo.
  useLayoutEffect(() => {
    setOpened(null)
    setFolds(null)
  }, [view, inChart])
  // Beside a chart each has a line: a picture needs its room.
  const isRoomy = isTall && !(inChart && pending.length > 1)
  const usual = first === undefined || first.key === closed || !isRoomy ? null : first.key
  const open = pending.some(({ key }) => key === opened) ? opened : (written ?? usual)
  // Before a key can come that is meant for what was open.
  useLayoutEffect(() => {
    deciding.opened.value = open
    deciding.isFolded.value = isFolded
    return () => {
      deciding.opened.value = null
      deciding.isFolded.value = false
    }
  }, [deciding, open, isFolded])
  if (first === undefined) return null
  const target = targetOf(pending, open)
  const toggle = (key: string): void => {
    setOpened(open === key ? null : key)
    setClosed(open === key ? key : null)
  }
  return (
    <section
      class={`approvals scroll ${isFolded ? 'is-folded' : ''}`}
      tabIndex={-1}
      aria-label="Waiting for you"
      aria-keyshortcuts={!isFolded && target !== undefined && deciding.may(target.key) ? 'y n' : undefined}
    >
      {pending.length === 1 ? null : (
        <Summary inspector={inspector} pending={pending} isFolded={isFolded} onFold={() => setFolds(!isFolded)} />
      )}
      {(isFolded ? [] : pending).map((one) => (
        <PendingItem
          key={one.key}
          inspector={inspector}
          view={view}
          pending={one}
          isAlone={pending.length === 1}
          isOpen={one.key === open}
          onToggle={() => toggle(one.key)}
        />
      ))}
    </section>
  )
}

interface SummaryProps {
  readonly inspector: Inspector
  readonly pending: readonly Pending[]
  readonly isFolded: boolean
  readonly onFold: () => void
}

/** Number of items that wait, and a button that approves all calls of a tool. */
function Summary({ inspector, pending, isFolded, onFold }: SummaryProps) {
  const name = pending.find(({ kind }) => kind === 'approval')?.name
  const drafts = inspector.deciding.drafts.value
  // Only what stands here as a whole is approved here.
  const told = isFolded ? [] : pending.filter(isToldWhole)
  const same = name === undefined ? [] : ofSameTool(told, name).filter((key) => !drafts.has(key))
  return (
    <div class="pending-line pending-sum">
      <button type="button" class="pending-fold pending-all" aria-expanded={!isFolded} onClick={onFold}>
        <Icon name="chevron" />
        <strong class="number">{formatCount(pending.length)} decisions waiting</strong>
      </button>
      {same.length < 2 ? null : (
        <ControlButton
          why={inspector.controls.value.approve}
          class="slim"
          onUse={() => decideAll(inspector, same, 'approve')}
        >
          Approve all {formatCount(same.length)} <span class="mono cut tool-name">{name}</span>
        </ControlButton>
      )}
    </div>
  )
}

interface ItemProps extends PendingBarProps {
  readonly pending: Pending
  readonly isAlone: boolean
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function PendingItem({ inspector, view, pending, isAlone, isOpen, onToggle }: ItemProps) {
  const via = view.agentId
  const card =
    pending.kind === 'approval' ? (
      <ApprovalCard inspector={inspector} via={via} approval={pending} />
    ) : (
      <QuestionCard inspector={inspector} via={via} pending={pending} />
    )
  const words = pendingWords(pending)
  const decide = (decision: 'approve' | 'deny') => () => decideAll(inspector, [pending.key], decision)
  const why = inspector.controls.value.approve
  return (
    <div class={isAlone ? '' : 'pending-item'} data-pending={pending.key}>
      {isAlone ? null : (
        <div class="pending-line">
          <button type="button" class="pending-fold" aria-expanded={isOpen} onClick={onToggle}>
            <Icon name="chevron" />
            <bdi class="mono pending-words">{words}</bdi>
            {pending.kind === 'approval' && pending.irreversible ? (
              <span class="badge warn">cannot be undone</span>
            ) : null}
            <Asker inspector={inspector} view={view} pending={pending} />
          </button>
          {isOpen || pending.kind !== 'approval' ? null : (
            <>
              <ControlButton why={why} class="slim" kind="danger" label={`Deny: ${words}`} onUse={decide('deny')}>
                Deny
              </ControlButton>
              {isToldWhole(pending) ? (
                <ControlButton
                  why={why}
                  class="slim"
                  kind="primary"
                  label={`Approve: ${words}`}
                  onUse={decide('approve')}
                >
                  Approve
                </ControlButton>
              ) : (
                <button type="button" class="button slim" onClick={onToggle} aria-label={`Show all: ${words}`}>
                  Show all
                </button>
              )}
            </>
          )}
        </div>
      )}
      {isAlone || isOpen ? card : null}
    </div>
  )
}

/** Agent that asks, unless it is the one that is shown, and the time since it asked. */
function Asker({ inspector, view, pending: { agentId, askedAt } }: PendingBarProps & { readonly pending: Pending }) {
  const now = useNow(inspector.clock, 15_000)
  const agent = inspector.attached.value.directory.agents.value.get(agentId)
  const since = askedAt ?? agent?.activeAt
  const who = agentId === view.agentId ? '' : agent === undefined ? agentId : nameOf(agent)
  return (
    <span class="pending-who small muted number">
      {who === '' ? null : <bdi class="cut">{who}</bdi>}
      {since === undefined ? null : <span>{age(now - since)} ago</span>}
    </span>
  )
}
