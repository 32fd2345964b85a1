import { money } from '../../../../../charts/src/amounts.ts'
import { factsAtRest, standingOf, standingWords } from '../../../../../charts/src/standing.ts'
import type { SessionEntry } from '../../../../../wire/src/frames.ts'
import { aboutOf, nameOf } from '../../model/sessions/agentNames.ts'
import { isTime } from '../../model/words/dayTime.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { standsOf } from '../../model/sessions/stands.ts'
import type { SideRow } from '../../model/sessions/sidebarRows.ts'
import { Icon } from '../../parts/icon.tsx'
import { StateDot } from '../../parts/stateDot.tsx'

export interface SideItemProps {
  readonly row: SideRow
  readonly isChosen: boolean
  readonly isActive: boolean
  /** True if the known facts of a session are from before its agent ended. */
  readonly isSettling: boolean
  readonly onChoose: () => void
  readonly onToggle: () => void
}

/** The facts that decide how a row looks. */
interface Look {
  readonly tone: string
  readonly dot: string
  readonly name: string
  readonly about: string
  readonly words: string
  readonly waiting: number
  readonly cost: string
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'short' })
const hour = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

/** Formats a time: the hour if it is today, else the day; empty for an invalid time. */
function when(time: number): string {
  if (!isTime(time)) return ''
  return (day.format(time) === day.format() ? hour : day).format(time)
}

function lookOf(row: Extract<SideRow, { readonly type: 'agent' | 'session' }>, isSettling: boolean): Look {
  if (row.type === 'session') return lookOfSession(row.session, isSettling)
  const { agent, hasLeft } = row
  const { standing, words } = standsOf(agent)
  const waiting = hasLeft ? 0 : (agent.pending ?? agent.pendingApprovals).length
  const where = agent.worker === undefined ? '' : ` · ${agent.worker}`
  const names = {
    name: nameOf(agent),
    about: aboutOf(agent) + where,
    cost: money((agent.treeSpent ?? agent.spent).costUsd),
  }
  const failed = agent.last?.error === undefined ? 'ended' : `failed: ${agent.last.error.code}`
  if (hasLeft) return { ...names, tone: 'left', dot: 'ended', words: failed, waiting }
  const isAmber = standing === 'waiting' || (waiting > 0 && row.hasChildren && !row.isOpen)
  return { ...names, tone: isAmber ? 'waiting' : standing, dot: standing, words, waiting }
}

function lookOfSession(session: SessionEntry, isSettling: boolean): Look {
  const facts = factsAtRest(session)
  const standing = session.error === undefined ? standingOf(facts) : 'failed'
  const words = session.error === undefined ? standingWords(facts) : `failed: ${session.error.code}`
  const fork = session.forkedFrom === undefined ? '' : ` · fork of ${session.forkedFrom}`
  return {
    name: nameOf(session),
    about: `${aboutOf(session)}${fork}`,
    tone: isSettling ? 'ended' : standing,
    dot: isSettling ? 'ended' : standing,
    words: isSettling ? '…' : words === 'at rest' ? '' : words,
    waiting: 0,
    cost: when(session.updatedAt),
  }
}

/** Maximum number of levels that are indented: a name needs its room, too. */
const deepestIndent = 6

/** One row of the list of agents and sessions. */
export function SideItem(props: SideItemProps) {
  const { row, isChosen, isActive, isSettling, onChoose, onToggle } = props
  const isFold = row.type === 'heading' || (row.type === 'agent' && row.hasChildren)
  const isOpen = isFold ? row.isOpen : undefined
  const item = {
    role: 'treeitem' as const,
    id: `side-${row.key.trim()}`,
    'aria-level': row.level,
    'aria-posinset': row.place,
    'aria-setsize': row.siblings,
    'aria-selected': isChosen,
    'aria-expanded': isOpen,
    onClick: onChoose,
  }
  const fold = (
    <span
      class={`fold ${isFold ? '' : 'none'} ${isOpen === true ? 'open' : ''}`}
      aria-hidden="true"
      onClick={(event) => {
        if (!isFold) return
        event.stopPropagation()
        onToggle()
      }}
    >
      <Icon name="chevron" />
    </span>
  )
  if (row.type === 'heading')
    return (
      <div {...item} class={`agent-row side-heading ${isActive ? 'active' : ''}`}>
        {fold}
        <span>{row.label}</span>
        <span class="count number">{formatCount(row.count)}</span>
      </div>
    )
  if (row.type === 'more')
    return (
      <div {...item} class={`agent-row ${isActive ? 'active' : ''}`}>
        {fold}
        <span class="grow muted">{formatCount(row.count)} more</span>
      </div>
    )
  const { tone, dot, name, about, words, waiting, cost } = lookOf(row, isSettling)
  return (
    <div
      {...item}
      class={`agent-row is-${tone} ${isActive ? 'active' : ''}`}
      style={{ paddingInlineStart: `${Math.min(row.level - 2, deepestIndent) * 12}px` }}
    >
      {fold}
      <StateDot state={dot} />
      <span class="grow">
        <span class="side-line">
          <bdi class="agent-name cut grow">{name}</bdi>
          {waiting === 0 ? null : (
            <span class="badge warn number" title="Waiting for you">
              {formatCount(waiting)}
              <span class="hidden"> waiting for you</span>
            </span>
          )}
        </span>
        <span class="side-line agent-about" title={about}>
          {words === '' ? null : <span class={words.startsWith('failed') ? 'bad-text cut' : 'cut'}>{words}</span>}
          <bdi class="cut side-about">{about}</bdi>
          <span class="number side-cost">{cost}</span>
        </span>
      </span>
    </div>
  )
}
