import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { GraphRows } from './graphRows.ts'
import { isOpenAtFirst, visibleRows } from './graphVisible.ts'

/**
 * Returns the toggled rows with which a node is in view: the rows that hide it are opened. `undefined` if it is
 * visible already, or if there is no such node. Pure.
 */
export function revealNode(
  graph: GraphRows,
  node: NodeId,
  toggled: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  const row = graph.row(node)
  if (row === undefined) return undefined
  const next = new Set(toggled)
  for (;;) {
    const shown = visibleRows(graph, next)
    if (shown.some((visible) => visible.row === row)) break
    const at = graph.rows.indexOf(row)
    // The last closed row before it that hides something hides it.
    const closed = shown.findLast(({ isOpen, hidden, place }) => isOpen === false && hidden > 0 && place <= at)
    if (closed === undefined) return undefined
    if (isOpenAtFirst(closed.row)) next.delete(closed.row.key)
    else next.add(closed.row.key)
  }
  return next.size === toggled.size && [...next].every((key) => toggled.has(key)) ? undefined : next
}
