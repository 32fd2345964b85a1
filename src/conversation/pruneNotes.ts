import type { PruneOutcome } from '../protocol/braking.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { Overlay } from '../protocol/records.ts'
import { renderMemo, type BrakeNote } from './brakeNotes.ts'
import { factsOf, renderFacts } from './facts.ts'
import type { ConversationNode } from './node.ts'

type FindNode = (id: NodeId) => ConversationNode | undefined

/** The hidden step in whose place a prune's note is shown: the first one not covered by a summary. */
export const noteStep = ({ steps }: PruneOutcome, overlay: Overlay | undefined): NodeId | undefined =>
  steps.find((id) => overlay === undefined || id < overlay.from || id > overlay.to)

/** The note shown in place of the steps that a prune hides: its memo and their facts. */
export function notesOfPrune({ memo, steps }: PruneOutcome, find: FindNode): BrakeNote[] {
  const facts = renderFacts(factsOf(steps.flatMap((id) => stepNodes(id, find))), steps)
  return [
    ...(memo === undefined ? [] : [{ kind: 'memo', text: renderMemo(memo, steps) }]),
    ...(facts === '' ? [] : [{ kind: 'facts', text: facts }]),
  ]
}

/** The nodes of a step; relies on their having consecutive ids. */
export function stepNodes(stepId: NodeId, find: FindNode): ConversationNode[] {
  const nodes: ConversationNode[] = []
  for (let node = find(stepId); node?.stepId === stepId; node = find(node.id + 1)) nodes.push(node)
  return nodes
}
