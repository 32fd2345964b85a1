import type { Signal } from '@preact/signals'
import { useCallback, useEffect, useRef } from 'preact/hooks'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { AgentViewState } from '../../model/agent/agentView.ts'
import type { GraphRows } from '../../model/conversation/graphRows.ts'
import type { VisibleRow } from '../../model/conversation/graphVisible.ts'
import { revealNode } from '../../model/conversation/revealNode.ts'
import { useRowScroll, type RowScroll } from '../../parts/rowScroll.tsx'

export interface TreeScrollOptions {
  readonly state: AgentViewState
  readonly graph: GraphRows
  readonly rows: readonly VisibleRow[]
  readonly toggled: Signal<ReadonlySet<string>>
  /** Key of the row that has the focus. */
  readonly active: Signal<string | null>
  readonly selected: Signal<NodeId | null>
  readonly scroller: () => HTMLElement | null
}

export interface TreeScroll extends RowScroll {
  /** Notes that a node was selected here, so that it is in view already. */
  readonly keepPlace: (node: NodeId) => void
}

const heights = { message: 84, call: 36, tag: 96, fold: 112, memo: 40, notice: 36, repeat: 36 } as const

/** Returns the height in pixels of a row that was never shown. */
const heightOf = (shown: VisibleRow | undefined): number => (shown === undefined ? 96 : heights[shown.row.type])

/** Scrolls the tree: to its end, which is read first, and to a node that was selected elsewhere. */
export function useTreeScroll({
  state,
  graph,
  rows,
  toggled,
  active,
  selected,
  scroller,
}: TreeScrollOptions): TreeScroll {
  /** The node to go to, until it is in view. */
  const wanted = useRef<NodeId | null>(selected.peek())
  const own = useRef<NodeId | null>(null)
  const mayGrow = state.status === 'live' && state.isRunning
  const keyOf = useCallback((index: number) => rows[index]?.row.key ?? 'partial', [rows])
  const estimate = useCallback((index: number) => heightOf(rows[index]), [rows])
  const count = rows.length + (state.partial === null ? 0 : 1)
  const scroll = useRowScroll({
    count,
    keyOf,
    estimate,
    scroller,
    follows: mayGrow && wanted.current === null,
    keepsRow: true,
  })
  const isOpened = useRef(false)
  useEffect(() => {
    if (isOpened.current) return
    isOpened.current = true
    if (state.status !== 'past' && wanted.current === null) scroll.scrollToEnd()
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
    const opened = revealNode(graph, node, toggled.peek())
    if (opened !== undefined) {
      toggled.value = opened
      return
    }
    const index = rows.findIndex((shown) => shown.row === row)
    if (index < 0) return
    wanted.current = null
    active.value = row.key
    scroll.scrollTo(index, 'center')
  })
  return { ...scroll, keepPlace: (node) => void (own.current = node) }
}
