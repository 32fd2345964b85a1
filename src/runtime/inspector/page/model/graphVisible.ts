import type { NodeId } from '../../../../protocol/ids.ts'
import type { FoldRow, GraphRow } from './graphRow.ts'
import type { GraphRows } from './graphRows.ts'

/** A row that is shown, with the lines of the graph in it. */
export interface VisibleRow {
  readonly row: GraphRow
  /** `undefined`: there is nothing to open. */
  readonly isOpen?: boolean
  /** Lanes before its own that pass by, as bits. */
  readonly passing: number
  /** Its own line comes from above, and goes on below. */
  readonly isJoined: boolean
  readonly goesOn: boolean
  /** Of a fold: it is what the model sees. */
  readonly isInForce?: boolean
  /** Rows that a closed row hides. */
  readonly hidden: number
}

/** More lanes than this are drawn as this many. */
export const mostLanes = 24

/** Whether a row is open when nobody has opened or closed it. */
export const isOpenAtFirst = (row: GraphRow): boolean => row.type === 'message' || row.type === 'tag'

/**
 * The rows to show, given those whose state somebody toggled. A closed branch or span is left out as a whole, but for what people
 * said in a span: that is shown word for word to the model too. `isGrowing`: the trunk goes on below the last row. Pure; costs the
 * number of rows.
 */
export function visibleRows(graph: GraphRows, toggled: ReadonlySet<string>, isGrowing = false): VisibleRow[] {
  const { rows } = graph
  const inForce = foldInForce(graph)
  const shown: { row: GraphRow; isOpen?: boolean; isInForce?: boolean; hidden: number }[] = []
  /** Of the closed row under way: the key of the last row it hides, and what it keeps. */
  let until: string | undefined
  let kept: readonly NodeId[] = []
  let closed: { hidden: number } | undefined
  for (const row of rows) {
    if (until !== undefined) {
      if (row.key === until) until = undefined
      if (!(row.type === 'message' && kept.includes(row.nodeId))) {
        closed!.hidden += 1
        continue
      }
      shown.push({ row, hidden: 0 })
      continue
    }
    const end = endOf(row, graph, inForce)
    const isOpen = isOpenAtFirst(row) !== toggled.has(row.key)
    const fold = row.type === 'fold' ? { isInForce: row === inForce } : {}
    const canOpen = end !== undefined || row.type === 'call'
    shown.push({ row, hidden: 0, ...(canOpen ? { isOpen } : {}), ...fold })
    if (end === undefined || isOpen) continue
    until = end
    kept = row.type === 'fold' ? row.overlay.kept : []
    closed = shown.at(-1)
  }
  return withLines(shown, isGrowing)
}

/** Key of the last row that a row hides when it is closed; `undefined` when it hides none. */
function endOf(row: GraphRow, graph: GraphRows, inForce: FoldRow | undefined): string | undefined {
  switch (row.type) {
    case 'message':
      return row.calls === 0 ? undefined : graph.row(row.nodeId + row.calls)?.key
    case 'tag':
      return row.until
    case 'fold':
      return row === inForce ? graph.row(row.overlay.to)?.key : undefined
    default:
      return undefined
  }
}

/** The newest compaction whose whole span is on the trunk. */
function foldInForce(graph: GraphRows): FoldRow | undefined {
  const isOnTrunk = (id: NodeId): boolean => graph.row(id)?.lane === 0
  let newest: FoldRow | undefined
  for (const row of graph.rows) {
    if (row.type !== 'fold' || !isOnTrunk(row.overlay.from) || !isOnTrunk(row.overlay.to)) continue
    if (newest === undefined || row.overlay.nodeId > newest.overlay.nodeId) newest = row
  }
  return newest
}

type Unlined = Omit<VisibleRow, 'passing' | 'isJoined' | 'goesOn'>

function withLines(shown: readonly Unlined[], isGrowing: boolean): VisibleRow[] {
  const lined: VisibleRow[] = Array.from({ length: shown.length })
  /** Lanes whose line goes on below the row under way. */
  let open = isGrowing ? 1 : 0
  for (let i = shown.length - 1; i >= 0; i--) {
    const { row } = shown[i]!
    const lane = Math.min(row.lane, mostLanes)
    const own = 1 << lane
    lined[i] = { ...shown[i]!, passing: open & (own - 1), isJoined: !row.isStart && i > 0, goesOn: (open & own) !== 0 }
    // Only lanes up to its own go on above it; a branch comes from the lane before.
    open &= own - 1
    open |= row.isStart && lane > 0 ? own >> 1 : own
  }
  return lined
}
