import { useComputed, useSignal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { formatNodeId, type NodeId } from '../../protocol/ids.ts'
import type { AgentView, AgentViewState } from '../model/agentView.ts'
import type { GraphRows } from '../model/graphRows.ts'
import { GraphSource } from '../model/graphSource.ts'
import { mostLanes, visibleRows, type VisibleRow } from '../model/graphVisible.ts'
import { openingTo } from '../model/openingTo.ts'
import { levelOf, treeMove } from '../model/rowKeys.ts'
import { EmptyState } from '../parts/emptyState.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { ConversationBar } from './conversationBar.tsx'
import { GrowingRow } from './conversationGrowing.tsx'
import { ConversationRow } from './conversationRow.tsx'
import { useRowScroll } from './conversationScroll.ts'

export interface ConversationPaneProps {
  readonly view: AgentView
  readonly selected: Signal<NodeId | null>
  readonly onSelect: (node: NodeId) => void
}

const growingKey = 'growing'

/** The conversation with all that was ever tried, as a tree: the trunk bold, abandoned branches beside it. */
export function ConversationPane({ view, selected, onSelect }: ConversationPaneProps): JSX.Element {
  const [source] = useState(() => new GraphSource())
  const state = view.state.value
  const graph = source.update(state)
  if (graph.rows.length === 0 && state.growing === null) return <NothingSaid state={state} />
  return <Tree key={view.agentId} view={view} graph={graph} selected={selected} onSelect={onSelect} />
}

function NothingSaid({ state }: { readonly state: AgentViewState }): JSX.Element {
  if (state.status === 'loading') return <Skeleton label="Reading the conversation" progress={state.progress} />
  const isPast = state.status === 'past'
  return (
    <EmptyState icon="send" title={isPast ? 'Nothing was said yet' : 'Nothing said yet'}>
      <p>
        {isPast
          ? 'At this moment the conversation had not begun.'
          : 'Prompt the agent, and its conversation appears here.'}
      </p>
    </EmptyState>
  )
}

interface TreeProps extends ConversationPaneProps {
  readonly graph: GraphRows
}

function Tree({ view, graph, selected, onSelect }: TreeProps): JSX.Element {
  const state = view.state.value
  const toggled = useSignal<ReadonlySet<string>>(new Set())
  /** Rows whose long texts are shown in full. */
  const full = useSignal<ReadonlySet<string>>(new Set())
  const active = useSignal<string | null>(null)
  const scroller = useRef<HTMLDivElement>(null)
  /** The node to go to, until it is in sight. */
  const wanted = useRef<NodeId | null>(selected.peek())
  const own = useRef<NodeId | null>(null)
  const isGrowing = state.growing !== null
  const rows = useMemo(
    () => visibleRows(graph, toggled.value, isGrowing),
    [graph, graph.version, toggled.value, isGrowing],
  )
  const deepest = useMemo(() => rows.reduce((most, { row }) => Math.max(most, row.lane), 0), [rows])
  const lanes = Math.min(deepest, mostLanes)
  const gap = Math.max(3, Math.min(16, 72 / Math.max(1, lanes)))
  const isBusy = state.status === 'live' && state.isRunning
  const keyOf = useCallback((index: number) => rows[index]?.row.key ?? growingKey, [rows])
  const estimate = useCallback((index: number) => heightOf(rows[index]), [rows])
  const scroll = useRowScroll({
    count: rows.length + (isGrowing ? 1 : 0),
    keyOf,
    estimate,
    scroller: () => scroller.current,
    follows: isBusy && wanted.current === null,
  })
  const isOpened = useRef(false)
  useEffect(() => {
    if (isOpened.current || state.status === 'loading') return
    isOpened.current = true
    if (isBusy && wanted.current === null) scroll.scrollToEnd()
  })
  const target = selected.value
  useEffect(() => {
    if (target !== own.current) wanted.current = target
    own.current = null
  }, [target])
  useEffect(() => {
    const node = wanted.current
    const row = node === null ? undefined : graph.row(node)
    if (node === null || row === undefined) return
    const opening = openingTo(graph, node, toggled.peek())
    if (opening !== undefined) {
      toggled.value = opening
      return
    }
    const index = rows.findIndex((shown) => shown.row === row)
    if (index < 0) return
    wanted.current = null
    active.value = row.key
    scroll.scrollTo(index, 'center')
  })
  const activeIndex = useMemo(() => rows.findIndex(({ row }) => row.key === active.value), [rows, active.value])

  const select = (shown: VisibleRow): void => {
    active.value = shown.row.key
    if (!('nodeId' in shown.row)) return
    own.current = shown.row.nodeId
    onSelect(shown.row.nodeId)
  }
  const toggle = (key: string): void => void (toggled.value = switched(toggled.value, key))
  const toggleFull = (key: string): void => void (full.value = switched(full.value, key))
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current || event.ctrlKey || event.metaKey || event.altKey) return
    const move = treeMove(event.key, rows, activeIndex)
    if (move === undefined) return
    event.preventDefault()
    if (move.type === 'go') {
      active.value = rows[move.to]!.row.key
      scroll.scrollTo(move.to, 'auto')
      return
    }
    const shown = rows[move.at]!
    if (move.type === 'toggle') toggle(shown.row.key)
    else {
      select(shown)
      if (shown.row.type === 'call' || shown.row.type === 'fold') toggle(shown.row.key)
      else toggleFull(shown.row.key)
    }
  }
  const missing = useComputed(() => {
    const { status } = view.state.value
    const node = selected.value
    return node !== null && status !== 'loading' && graph.row(node) === undefined ? formatNodeId(node) : null
  })
  // Only what is made can be named.
  const activeShown = scroll.items.some(({ index }) => index === activeIndex) ? rows[activeIndex] : undefined
  return (
    <section class="conversation" aria-label="Conversation">
      <ConversationBar
        graph={graph}
        state={state}
        toggled={toggled}
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
      >
        <div class="conversation-rows" role="none" style={{ height: `${scroll.height}px` }}>
          {scroll.items.map(({ index, key, start }) => {
            const shown = rows[index]
            const isActive = index === activeIndex
            return (
              <div
                key={key}
                ref={scroll.measure}
                data-index={index}
                class="conversation-place"
                role="none"
                style={{ transform: `translateY(${start}px)` }}
              >
                {shown === undefined ? (
                  state.growing !== null && <GrowingRow growing={state.growing} gap={gap} lanes={lanes} />
                ) : (
                  <ConversationRow
                    id={idOf(shown.row.key)}
                    shown={shown}
                    version={shown.row.version}
                    level={levelOf(shown)}
                    position={index + 1}
                    count={rows.length}
                    gap={gap}
                    lanes={lanes}
                    isActive={isActive}
                    isSelected={'nodeId' in shown.row && shown.row.nodeId === target}
                    isFull={full.value.has(shown.row.key)}
                    onSelect={select}
                    onToggle={toggle}
                    onToggleFull={toggleFull}
                  />
                )}
              </div>
            )
          })}
        </div>
      </div>
    </section>
  )
}

const idOf = (key: string): string => `conversation-${key.replace(' ', '-')}`

function switched(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(key)) next.add(key)
  return next
}

const heights = { message: 84, call: 36, tag: 96, fold: 112, memo: 40, notice: 36 } as const

const heightOf = (shown: VisibleRow | undefined): number => (shown === undefined ? 96 : heights[shown.row.type])
