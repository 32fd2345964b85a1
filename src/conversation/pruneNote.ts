import type { PruneOutcome } from '../protocol/braking.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { Overlay } from '../protocol/records.ts'
import { renderMemo } from './brakeNotes.ts'
import { factsOf, renderFacts } from './facts.ts'
import type { ConversationNode } from './node.ts'

type FindNode = (id: NodeId) => ConversationNode | undefined

/** The hidden step in whose place a prune's note stands: the first for which no summary stands. */
export const noteStep = ({ steps }: PruneOutcome, overlay: Overlay | undefined): NodeId | undefined =>
  steps.find((id) => overlay === undefined || id < overlay.from || id > overlay.to)

/** What stands for the steps that a prune hides: its memo, and their facts; `''` when there is neither. */
export function renderPrune({ memo, steps }: PruneOutcome, find: FindNode): string {
  const facts = renderFacts(factsOf(steps.flatMap((id) => stepNodes(id, find))), steps)
  return [memo === undefined ? '' : renderMemo(memo, steps), facts].filter((part) => part !== '').join('\n')
}

/** The nodes of a step have ids that follow each other. */
function stepNodes(stepId: NodeId, find: FindNode): ConversationNode[] {
  const nodes: ConversationNode[] = []
  for (let node = find(stepId); node?.stepId === stepId; node = find(node.id + 1)) nodes.push(node)
  return nodes
}
