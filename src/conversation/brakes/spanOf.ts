import type { NodeId } from '../../protocol/ids.ts'
import { formatNodeId } from '../../protocol/text/nodeIds.ts'

/** The attribute of a note that says which nodes it stands for; `''` for none. */
export function spanOf(ids: readonly NodeId[]): string {
  const [first] = ids
  const last = ids.at(-1)
  if (first === undefined || last === undefined) return ''
  return ` span="${first === last ? formatNodeId(first) : `${formatNodeId(first)}–${formatNodeId(last)}`}"`
}
