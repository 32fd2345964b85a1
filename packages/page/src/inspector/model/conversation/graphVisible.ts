import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { FoldRow, GraphRow, ShownRow } from './graphRow.ts'
import type { GraphRows } from './graphRows.ts'
import { addWork, noWork, type HiddenWork } from './hiddenWork.ts'
import { repeatsOf } from './repeats.ts'

/** A row that is shown, with the lines of the graph in it. */
export interface VisibleRow {
  readonly row: ShownRow
  /** Index of the row in the graph; for a row that stands for others, the index of the first of them. */
  readonly place: number
  /** True if the row is open; `undefined` if there is nothing to open. */
  readonly isOpen: boolean | undefined
  /** Lanes before the row's own whose lines pass by, as bits. */
  readonly passing: number
  /** True if the row's own line comes from above, and if it continues below. */
  readonly isJoined: boolean
  readonly goesOn: boolean
  /** True for a fold that the model sees in place of its steps. */
  readonly isInForce: boolean
  /** Number of rows that a closed row hides. */
  readonly hidden: number
  /** Work done in a closed branch. */
  readonly work?: HiddenWork
}

type Draft = { -readonly [K in keyof VisibleRow]: VisibleRow[K] }

/** Maximum number of lanes that are drawn. */
export const mostLanes = 24

/** Number of nodes above which an abandoned branch is closed at first. */
const mostOpen = 6

/** Returns true if a row is open until a person closes it. */
export const isOpenAtFirst = (row: ShownRow): boolean =>
  row.type === 'message' || (row.type === 'tag' && row.tag.abandoned.length <= mostOpen)

/**
 * Returns the rows to show, given the keys of those that a person toggled. A closed branch or span is left out as a whole, except for the
 * messages of people in a span, which the model is also shown word for word. `isReplying`: the trunk continues below the last row. Pure;
 * costs the number of rows.
 */
export function visibleRows(graph: GraphRows, toggled: ReadonlySet<string>, isReplying = false): VisibleRow[] {
  const inForce = foldInForce(graph)
  const shown: Draft[] = []
  /** The closed row whose rows are being skipped, the key of the last row that it hides, and the rows that it keeps. */
  let closed: Draft | undefined
  let until: string | undefined
  let kept: readonly NodeId[] = []
  const repeats = repeatsOf(graph)
  for (const [place, row] of graph.rows.entries()) {
    if (closed !== undefined) {
      const isKept = row.type === 'message' && kept.includes(row.nodeId)
      if (isKept) shown.push(visible(row, place, undefined, false))
      else {
        closed.hidden += 1
        if (closed.work !== undefined) addWork(closed.work, row)
      }
      if (row.key === until) closed = undefined
      continue
    }
    const repeat = repeats.get(row.key)
    if (repeat !== undefined) {
      const isOpen = toggled.has(repeat.row.key)
      const drawn = visible(repeat.row, place, isOpen, false)
      shown.push(drawn)
      if (!isOpen) {
        drawn.hidden = 1
        closed = drawn
        until = repeat.until
        kept = []
        continue
      }
    }
    const end = endOf(row, graph, inForce)
    const canOpen = end !== undefined || row.type === 'call'
    const isOpen = canOpen ? isOpenAtFirst(row) !== toggled.has(row.key) : undefined
    const drawn = visible(row, place, isOpen, row === inForce)
    shown.push(drawn)
    if (end === undefined || isOpen !== false) continue
    closed = drawn
    if (row.type === 'tag') drawn.work = noWork()
    until = end
    kept = row.type === 'fold' ? row.overlay.kept : []
  }
  drawLines(shown, isReplying)
  return shown
}

/** Returns the last message on the trunk if it is a reply without calls. Pure. */
export function answerIn(rows: readonly Pick<VisibleRow, 'row'>[]): ShownRow | undefined {
  const last = rows.findLast(({ row }) => row.type === 'message' && row.lane === 0)?.row
  return last?.type === 'message' && last.message.role === 'assistant' && last.calls === 0 ? last : undefined
}

const visible = (row: ShownRow, place: number, isOpen: boolean | undefined, isInForce: boolean): Draft => ({
  row,
  place,
  isOpen,
  passing: 0,
  isJoined: false,
  goesOn: false,
  isInForce,
  hidden: 0,
})

/** Returns the key of the last row that a row hides when it is closed; `undefined` if it hides none. */
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

/** Returns the newest compaction whose whole span is on the trunk. */
function foldInForce(graph: GraphRows): FoldRow | undefined {
  const isOnTrunk = (id: NodeId): boolean => graph.row(id)?.lane === 0
  return graph.folds.findLast(({ overlay }) => isOnTrunk(overlay.from) && isOnTrunk(overlay.to))
}

/** Draws the lines of the graph from the end upwards: the lines that pass a row depend on the rows below it. */
function drawLines(shown: readonly Draft[], isReplying: boolean): void {
  /** Lanes whose line continues below the current row, as bits. */
  let open = isReplying ? 1 : 0
  for (let i = shown.length - 1; i >= 0; i--) {
    const drawn = shown[i]!
    const { row } = drawn
    const lane = Math.min(row.lane, mostLanes)
    const own = 1 << lane
    drawn.passing = open & (own - 1)
    drawn.isJoined = !row.isStart && i > 0
    drawn.goesOn = (open & own) !== 0
    // Only lanes up to its own go on above it; a branch comes from the lane before.
    open &= own - 1
    open |= row.isStart && lane > 0 ? own >> 1 : own
  }
}
