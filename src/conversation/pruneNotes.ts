import type { PruneOutcome } from '../protocol/braking.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { Overlay } from '../protocol/records.ts'
import { renderMemo, type BrakeNote } from './brakeNotes.ts'
import { factsOf, renderFacts } from './facts.ts'
import type { ConversationNode } from './node.ts'

type FindNode = (id: NodeId) => ConversationNode | undefined

/** The hidden step in whose place a prune's note stands: the first for which no summary stands. */
export const noteStep = ({ steps }: PruneOutcome, overlay: Overlay | undefined): NodeId | undefined =>
  steps.find((id) => overlay === undefined || id < overlay.from || id > overlay.to)

/** What stands for the steps that a prune hides: its memo, and their facts. */
export function notesOfPrune({ memo, steps }: PruneOutcome, find: FindNode): BrakeNote[] {
  const facts = renderFacts(factsOf(steps.flatMap((id) => stepNodes(id, find))), steps)
  return [
    ...(memo === undefined ? [] : [{ kind: 'memo', text: renderMemo(memo, steps) }]),
    ...(facts === '' ? [] : [{ kind: 'facts', text: facts }]),
  ]
}

/** The nodes of a step have ids that follow each other. */
function stepNodes(stepId: NodeId, find: FindNode): ConversationNode[] {
  const nodes: ConversationNode[] = []
  for (let node = find(stepId); node?.stepId === stepId; node = find(node.id + 1)) nodes.push(node)
  return nodes
}
