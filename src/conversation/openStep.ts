import type { RecordOf } from '../protocol/records.ts'
import { makeNode, type ConversationNode } from './node.ts'
import type { TokenCounter } from './tokenCounter.ts'

/** An assistant message that is still missing tool results, and so is not on the trunk yet. */
export interface OpenStep {
  readonly reply: RecordOf<'reply.end'>
  readonly callIds: readonly string[]
  readonly results: Map<string, RecordOf<'tool.end'>>
  /** What the start of a call says of it, where it says something. */
  readonly marks: Map<string, CallMarks>
}

/** Of a call that was started: it cannot be undone; it waits for something by asking again and again. */
export type CallMarks = Pick<RecordOf<'tool.start'>, 'irreversible' | 'polls'>

/** The nodes of an open step so far, to follow the head of the trunk. */
export function nodesOf(
  { reply, callIds, results, marks }: OpenStep,
  head: ConversationNode | undefined,
  counter: TokenCounter,
): ConversationNode[] {
  const nodes: ConversationNode[] = []
  for (const record of [reply, ...callIds.flatMap((id) => results.get(id) ?? [])]) {
    const said = record.type === 'tool.end' ? marks.get(record.callId) : undefined
    nodes.push(makeNode(record, reply.nodeId, nodes.at(-1) ?? head, counter, said))
  }
  return nodes
}
