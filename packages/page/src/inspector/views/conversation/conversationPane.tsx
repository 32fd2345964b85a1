import { useComputed, useSignal, type Signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { AgentView, AgentViewState, PartialReply } from '../../model/agent/agentView.ts'
import type { GraphRows } from '../../model/conversation/graphRows.ts'
import { GraphSource } from '../../model/conversation/graphSource.ts'
import { answerIn, mostLanes, visibleRows, type VisibleRow } from '../../model/conversation/graphVisible.ts'
import { levelOf, treeMove } from '../../model/conversation/rowKeys.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { ConversationBar } from './conversationBar.tsx'
import { ConversationRow, type ConversationRowProps } from './conversationRow.tsx'
import type { GrowingReplyProps } from './growingReply.tsx'
import type { NewBelowProps } from './newBelow.tsx'
import { laterPart } from '../../parts/later.tsx'
import { useTreeScroll, type TreeScroll } from './treeScroll.ts'
import { toggled } from '../../model/words/toggled.ts'
import { Rows } from '../../parts/rowScroll.tsx'

const GrowingReply = laterPart<GrowingReplyProps>(<></>, async () => (await import('./growingReply.tsx')).GrowingReply)
const NewBelow = laterPart<NewBelowProps>(<></>, async () => (await import('./newBelow.tsx')).NewBelow)

export interface ConversationPaneProps {
  readonly view: AgentView
  readonly selected: Signal<NodeId | null>
  readonly onSelect: (node: NodeId) => void
}

const noEvents: readonly never[] = []

/** The conversation with all that was ever tried, as a tree: the trunk bold, abandoned branches beside it. */
export function ConversationPane({ view, selected, onSelect }: ConversationPaneProps): JSX.Element {
  const [source] = useState(() => new GraphSource())
  const state = view.state.value
  const { tail, status } = state
  const graph = source.update(status === 'loading' ? { records: tail, events: noEvents, at: null } : state)
  const node = selected.value
  // What came before is being read: a node of it is waited for.
  if (status === 'loading' && (tail.length === 0 || (node !== null && graph.row(node) === undefined)))
    return <Skeleton label="Loading the conversation" read={state.lastSeq} />
  if (graph.rows.length === 0 && state.partial === null) return <NothingSaid state={state} />
  return <Tree key={view.agentId} view={view} graph={graph} selected={selected} onSelect={onSelect} />
}

function NothingSaid({ state }: { readonly state: AgentViewState }): JSX.Element {
  const isPast = state.status === 'past'
  return (
    <EmptyState icon="send" title={isPast ? 'No messages at this point' : 'No messages yet'}>
      <p>{isPast ? 'The conversation had not started yet.' : 'Prompt the agent to start the conversation.'}</p>
    </EmptyState>
  )
}

interface TreeProps extends ConversationPaneProps {
  readonly graph: GraphRows
}

function Tree({ view, graph, selected, onSelect }: TreeProps): JSX.Element {
  const state = view.state.value
  /** Keys of the rows that the person has opened or closed. */
  const flipped = useSignal<ReadonlySet<string>>(new Set())
  /** Rows whose long texts are shown in full. */
  const full = useSignal<ReadonlySet<string>>(new Set())
  const active = useSignal<string | null>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const isReplying = state.partial !== null
  const rows = useMemo(
    () => visibleRows(graph, flipped.value, isReplying),
    [graph, graph.version, flipped.value, isReplying],
  )
  const scroll = useTreeScroll({
    state,
    graph,
    rows,
    toggled: flipped,
    active,
    selected,
    scroller: () => scroller.current,
  })
  const activeIndex = useMemo(() => rows.findIndex(({ row }) => row.key === active.value), [rows, active.value])

  const select = (shown: VisibleRow): void => {
    active.value = shown.row.key
    if (!('nodeId' in shown.row)) return
    scroll.keepPlace(shown.row.nodeId)
    onSelect(shown.row.nodeId)
  }
  const toggle = (key: string): void => void (flipped.value = toggled(flipped.value, key))
  const toggleFull = (key: string): void => void (full.value = toggled(full.value, key))
  const goTo = (index: number): void => {
    const shown = rows[index]
    if (shown === undefined) return
    active.value = shown.row.key
    scroll.scrollTo(index, 'auto')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current || event.ctrlKey || event.metaKey || event.altKey) return
    const move = treeMove(event.key, rows, activeIndex, levelOf)
    if (move === undefined) return
    event.preventDefault()
    if (move.type === 'go') {
      goTo(move.to)
      // A reply that is being written comes after the last row.
      if (event.key === 'End') scroll.scrollToEnd()
      return
    }
    const shown = rows[move.at]!
    if (move.type !== 'toggle') select(shown)
    if (move.type === 'toggle' || ['call', 'fold', 'repeat'].includes(shown.row.type)) toggle(shown.row.key)
    else toggleFull(shown.row.key)
  }
  const missing = useComputed(() => {
    const { status } = view.state.value
    const node = selected.value
    return node !== null && status !== 'loading' && graph.row(node) === undefined ? formatNodeId(node) : null
  })
  // aria-activedescendant must name a rendered row.
  const activeShown = scroll.items.some(({ index }) => index === activeIndex) ? rows[activeIndex] : undefined
  return (
    <section class="conversation" aria-label="Conversation">
      <ConversationBar
        graph={graph}
        state={state}
        toggled={flipped}
        missing={missing.value}
        onHead={() => scroll.scrollToEnd()}
      />
      <div
        ref={scroller}
        class="conversation-scroll scroll"
        role="tree"
        tabIndex={0}
        aria-label="Messages, oldest first"
        aria-activedescendant={activeShown === undefined ? undefined : idOf(activeShown.row.key)}
        onKeyDown={onKeyDown}
        onFocus={({ target, currentTarget }) => {
          // Of keys alone: who points at a row means that row.
          if (target !== currentTarget || activeIndex >= 0 || !currentTarget.matches(':focus-visible')) return
          const isFollowing = scroll.isFollowing()
          goTo(rows.length - 1)
          if (isFollowing) scroll.scrollToEnd()
        }}
      >
        <TreeRows
          scroll={scroll}
          rows={rows}
          partial={state.partial}
          activeIndex={activeIndex}
          selected={selected.value}
          full={full.value}
          onSelect={select}
          onToggle={toggle}
          onToggleFull={toggleFull}
        />
      </div>
      <NewBelow
        key={`${state.status === 'loading'}`}
        scroller={() => scroller.current}
        isFollowing={scroll.isFollowing}
        count={graph.rows.length}
        growing={state.partial?.text.length ?? null}
        onEnd={() => scroll.scrollToEnd()}
      />
    </section>
  )
}

interface TreeRowsProps extends Pick<ConversationRowProps, 'onSelect' | 'onToggle' | 'onToggleFull'> {
  readonly scroll: TreeScroll
  readonly rows: readonly VisibleRow[]
  readonly partial: PartialReply | null
  readonly activeIndex: number
  readonly selected: NodeId | null
  readonly full: ReadonlySet<string>
}

/** The rows in view, followed by the reply under way. */
function TreeRows({ scroll, rows, partial, activeIndex, selected, full, ...actions }: TreeRowsProps): JSX.Element {
  const deepest = useMemo(() => rows.reduce((most, { row }) => Math.max(most, row.lane), 0), [rows])
  const answer = useMemo(() => answerIn(rows), [rows])
  const lanes = Math.min(deepest, mostLanes)
  const gap = Math.max(3, Math.min(16, 72 / Math.max(1, lanes)))
  const draw = (index: number): ComponentChildren => {
    const shown = rows[index]
    if (shown === undefined)
      return (
        partial !== null && <GrowingReply partial={partial} gap={gap} lanes={lanes} isFollowing={scroll.isFollowing} />
      )
    return (
      <ConversationRow
        id={idOf(shown.row.key)}
        shown={shown}
        version={shown.row.version}
        level={levelOf(shown)}
        position={index + 1}
        count={rows.length}
        gap={gap}
        lanes={lanes}
        isActive={index === activeIndex}
        before={rows[index - 1]?.row.time}
        isSelected={'nodeId' in shown.row && shown.row.nodeId === selected}
        isFull={full.has(shown.row.key)}
        isAnswer={shown.row === answer}
        {...actions}
      />
    )
  }
  return <Rows scroll={scroll} row={draw} />
}

const idOf = (key: string): string => `conversation-${key.replace(' ', '-')}`
