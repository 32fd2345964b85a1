import type { NodeId } from '../../protocol/ids.ts'
import { formatNodeId } from '../../protocol/text/nodeIds.ts'

/** Returns the attribute of a note that names its nodes; `''` for none. */
export function spanOf(ids: readonly NodeId[]): string {
  const [first] = ids
  const last = ids.at(-1)
  if (first === undefined || last === undefined) return ''
  return ` span="${first === last ? formatNodeId(first) : `${formatNodeId(first)}–${formatNodeId(last)}`}"`
}
