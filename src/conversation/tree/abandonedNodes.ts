import type { NodeId } from '../../protocol/ids.ts'
import type { ConversationNode } from './node.ts'

/** Returns these nodes, and nodes that earlier reverts to them abandoned, by id, each once. Pure. */
export function nodesBehind(
  ids: readonly NodeId[],
  find: (id: NodeId) => ConversationNode | undefined,
): ConversationNode[] {
  const nodes: ConversationNode[] = []
  const seen = new Set<NodeId>()
  const waiting = [...ids]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    const node = find(id)
    if (node === undefined) continue
    nodes.push(node)
    for (const tag of node.tags) waiting.push(...tag.abandoned)
  }
  return nodes.toSorted((a, b) => a.id - b.id)
}
