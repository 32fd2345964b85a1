import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { counted } from '../../../../../charts/src/amounts.ts'
import type { AgentViewState } from '../../model/agent/agentView.ts'
import { compareTrunks, type ComparedRow } from '../../model/branches/compareTrunks.ts'
import { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { SameMessages } from '../../model/branches/sameMessages.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { CompareRow } from './compareRow.tsx'
import { CompareTotals } from './compareTotals.tsx'
import { Rows, useRowScroll } from '../../parts/rowScroll.tsx'

export interface ComparePaneProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  /** Id of the other agent. */
  readonly other: string
}

/** Two agents side by side: their totals, and their trunks from the first message that differs. */
export function ComparePane({ inspector, view, other }: ComparePaneProps): JSX.Element {
  const { client, status } = inspector.attached.value.connection
  const [beside, setBeside] = useState<FollowedAgent | null>(null)
  useEffect(() => {
    const followed = new FollowedAgent(client, other, { batch: inspector.batch })
    setBeside(followed)
    return () => followed.close()
  }, [client, other])
  const isOpen = status.value === 'open'
  // What was missed is not in the log alone.
  useEffect(() => {
    if (isOpen) void beside?.refresh()
  }, [isOpen])
  const left = view.state.value
  const right = beside?.agentId === other ? beside.state.value : undefined
  const stop = (): void => inspector.go({ with: null })
  if (right?.status === 'error')
    return (
      <EmptyState icon="warning" title="The other agent could not be loaded">
        <p role="alert">{right.error?.message}</p>
        <p class="mono faint">{right.error?.code}</p>
        <button type="button" class="button" onClick={stop}>
          Stop comparing
        </button>
      </EmptyState>
    )
  if (right === undefined || right.status === 'loading')
    return <Skeleton label="Loading the other log" read={right?.lastSeq ?? 0} />
  return <Compared key={other} inspector={inspector} left={left} right={right} onStop={stop} />
}

interface ComparedProps {
  readonly inspector: Inspector
  readonly left: AgentViewState
  readonly right: AgentViewState
  readonly onStop: () => void
}

/** A row that is shown. `shared` stands for the equal rows at the beginning. */
type Part = { readonly type: 'shared' } | { readonly type: 'row'; readonly at: number }

/** Estimates the height of a row in pixels, from the longer of its texts. */
function heightOf({ left, right }: ComparedRow): number {
  const chars = Math.min(1_200, 4 * Math.max(left?.tokens ?? 0, right?.tokens ?? 0))
  return 66 + 18 * Math.max(1, Math.ceil(chars / 44))
}

function Compared({ inspector, left, right, onStop }: ComparedProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null)
  const isOpen = useSignal(false)
  const same = useMemo(() => new SameMessages(), [])
  const compared = useMemo(
    () => compareTrunks(left.conversation.trunk(), right.conversation.trunk(), same),
    [left.conversation, left.lastSeq, left.at, right.conversation, right.lastSeq],
  )
  const { shared, rows, different, isCoarse } = compared
  const parts = useMemo(() => {
    const row = (_: unknown, at: number): Part => ({ type: 'row', at })
    if (shared === 0) return rows.map(row)
    return [{ type: 'shared' } as const, ...rows.map(row).slice(isOpen.value ? 0 : shared)]
  }, [compared, isOpen.value])
  const scroll = useRowScroll({
    count: parts.length,
    keyOf: useCallback(
      (at: number) => {
        const part = parts[at]
        if (part?.type !== 'row') return 'shared'
        const { left: one, right: other } = rows[part.at]!
        return `${one?.id ?? ''} ${other?.id ?? ''}`
      },
      [parts],
    ),
    estimate: useCallback(
      (at: number) => {
        const part = parts[at]
        return part?.type === 'row' ? heightOf(rows[part.at]!) : 37
      },
      [parts],
    ),
    scroller: () => scroller.current,
    follows: false,
  })
  // The browser's own would stop where the rows that were never shown were thought to end.
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current || (event.key !== 'Home' && event.key !== 'End')) return
    event.preventDefault()
    if (event.key === 'Home') scroll.scrollTo(0, 'auto')
    else scroll.scrollToEnd()
  }
  const draw = (part: Part | undefined): JSX.Element | null => {
    if (part === undefined) return null
    if (part.type === 'row')
      return <CompareRow inspector={inspector} row={rows[part.at]!} left={left.agentId} right={right.agentId} />
    return (
      <button
        type="button"
        class="compare-shared"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <span aria-hidden="true">=</span>
        <span class="grow">{`${counted(shared, 'identical message')} at the start`}</span>
        <span class="faint">{isOpen.value ? 'Hide' : 'Show'}</span>
      </button>
    )
  }
  return (
    <section class="compare" aria-label="Comparison">
      <div class="compare-bar">
        <h2>Comparison</h2>
        <span class="muted number grow" role="status">
          {different === 0 ? 'no differences' : `${counted(different, 'row')} different`}
          {isCoarse ? '; too many messages to match, so they are listed in order' : ''}
        </span>
        <button
          type="button"
          class="button quiet"
          onClick={() => inspector.go({ agent: right.agentId, with: left.agentId })}
        >
          Swap
        </button>
        <button type="button" class="button quiet" title="Esc" onClick={onStop}>
          <Icon name="close" /> Stop comparing
        </button>
      </div>
      <CompareTotals inspector={inspector} left={left} right={right} />
      <div
        ref={scroller}
        class="compare-scroll scroll"
        id="compared"
        tabIndex={0}
        role="group"
        aria-label="Messages side by side"
        onKeyDown={onKeyDown}
      >
        <Rows scroll={scroll} listOf={parts.length} row={(at) => draw(parts[at])} />
      </div>
    </section>
  )
}
