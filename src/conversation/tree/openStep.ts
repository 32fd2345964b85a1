import type { NodeId } from '../../protocol/ids.ts'
import { formatNodeId } from '../../protocol/text/nodeIds.ts'
import type { RecordOf } from '../../protocol/records.ts'
import { makeNode, type CallMarks, type ConversationNode } from './node.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'

/** An assistant message that still lacks tool results, so it is not on the trunk yet. */
export interface OpenStep {
  readonly reply: RecordOf<'reply.end'>
  readonly callIds: readonly string[]
  readonly results: Map<string, RecordOf<'tool.end'>>
  /** Marks from the start of each call, by `callId`. */
  readonly marks: Map<string, Partial<CallMarks>>
}

/** Stored form of an open step. */
export interface KeptOpenStep extends Pick<OpenStep, 'reply' | 'callIds'> {
  readonly results: readonly (readonly [string, RecordOf<'tool.end'>])[]
  readonly marks: readonly (readonly [string, Partial<CallMarks>])[]
}

export const keepOpen = (open: OpenStep): KeptOpenStep => ({
  ...open,
  results: [...open.results],
  marks: [...open.marks],
})

/** Restores an open step that was kept. */
export const openedAgain = (kept: KeptOpenStep): OpenStep => ({
  ...kept,
  results: new Map(kept.results),
  marks: new Map(kept.marks),
})

/** Returns the nodes of an open step so far, which will follow the head of the trunk. */
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

/** Returns the reason why a result does not belong to the open step; `undefined` if it does. */
export function wrongInResult(record: RecordOf<'tool.end'>, open: OpenStep | undefined): string | undefined {
  const { callId, message } = record
  const index = open?.callIds.indexOf(callId) ?? -1
  if (open === undefined || index < 0) return `call ${callId} is not open`
  if (message.callId !== callId) return `its message answers ${message.callId}`
  if (open.results.has(callId)) return `call ${callId} has a result already`
  const nodeId = open.reply.nodeId + 1 + index
  return record.nodeId === nodeId && record.parentId === nodeId - 1
    ? undefined
    : `its place must be ${formatNodeId(nodeId)} after ${formatNodeId(nodeId - 1)}`
}

/** Returns the reason why a message cannot be appended; `undefined` if it can. */
export function wrongInPlace(
  { nodeId, parentId }: { readonly nodeId: NodeId; readonly parentId: NodeId | null },
  open: OpenStep | undefined,
  { head, lastNodeId }: { readonly head: ConversationNode | undefined; readonly lastNodeId: NodeId },
): string | undefined {
  if (open !== undefined) return 'a step is still open'
  if (nodeId <= lastNodeId) return `${formatNodeId(nodeId)} is taken`
  if (nodeId > lastNodeId + 1) return `its id must be the next, ${formatNodeId(lastNodeId + 1)}`
  if (parentId === (head?.id ?? null)) return undefined
  return `its parent must be the head, ${head === undefined ? 'none' : formatNodeId(head.id)}`
}

/** Notes the marks of a call that starts, and of one that it makes: its effects are its own. */
export function markCall(open: OpenStep | undefined, record: RecordOf<'tool.start' | 'inner.start'>): void {
  if (open === undefined) return
  const { marks } = open
  const { callId, irreversible, reversible } = record
  const before = marks.get(callId)
  if (record.type === 'tool.start')
    return void marks.set(callId, before === undefined ? record : { ...record, ...before })
  marks.set(callId, {
    ...before,
    ...(irreversible === undefined ? {} : { irreversible }),
    ...(reversible === undefined ? {} : { reversible }),
  })
}
