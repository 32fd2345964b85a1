import type { RecordOf } from '../protocol/records.ts'
import { makeNode, type ConversationNode } from './node.ts'
import type { TokenCounter } from './tokenCounter.ts'

/** An assistant message that is still missing tool results, and so is not on the trunk yet. */
export interface OpenStep {
  readonly reply: RecordOf<'reply.end'>
  readonly callIds: readonly string[]
  readonly results: Map<string, RecordOf<'tool.end'>>
  /** Calls that were started and cannot be undone. */
  readonly irreversible: Set<string>
}

/** The nodes of an open step so far, to follow the head of the trunk. */
export function nodesOf(
  { reply, callIds, results, irreversible }: OpenStep,
  head: ConversationNode | undefined,
  counter: TokenCounter,
): ConversationNode[] {
  const nodes: ConversationNode[] = []
  for (const record of [reply, ...callIds.flatMap((id) => results.get(id) ?? [])]) {
    const isIrreversible = record.type === 'tool.end' && irreversible.has(record.callId)
    nodes.push(makeNode(record, reply.nodeId, nodes.at(-1) ?? head, counter, isIrreversible))
  }
  return nodes
}
