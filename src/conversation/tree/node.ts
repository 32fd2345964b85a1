import type { Tag } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { Message, ToolCallBlock } from '../../protocol/messages.ts'
import { toolCallsOf } from '../../protocol/text/messageText.ts'
import { valueOf } from '../../protocol/runs/run.ts'
import type { RecordOf } from '../../protocol/records.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'
import { formatNodeId } from '../../protocol/text/nodeIds.ts'

/** A message at its position in the tree. */
export interface ConversationNode {
  readonly id: NodeId
  readonly parentId: NodeId | null
  readonly message: Message
  readonly runId: string
  readonly turnIndex: number
  /** Id of the first node of its step. */
  readonly stepId: NodeId
  /** Estimated tokens of this message, and of the whole path from the root to it. */
  readonly tokens: number
  readonly pathTokens: number
  /** Depth in the tree; the root has 1. */
  readonly depth: number
  readonly tags: readonly Tag[]
  /** The node that this one repeats, after a revert removed the original from the trunk. */
  readonly rebasedFrom?: NodeId
  /** Set for a copy that a graft made: the node that it repeats, which is not a copy itself. */
  readonly copiedFrom?: NodeId
  /** Set for a result whose call was started and cannot be undone. */
  readonly isIrreversible?: true
  /** Set for a result whose call was started and whose tool can undo its effect. `seq`: sequence number of the record of its end. */
  readonly reversible?: { readonly seq: number; readonly isUndone: boolean }
  /** Set for a result whose call polls for something. */
  readonly isPolling?: true
  /** Set for a result: the arguments that its call ran with, if a hook or a person had changed them. */
  readonly ranWith?: { readonly input: unknown }
  /** Set for a result that ends its run, with its value. */
  readonly ending?: { readonly data?: unknown }
}

/** A user message, or an assistant message with all its tool results: the smallest unit kept or abandoned. */
export interface Step {
  readonly id: NodeId
  /** Id of the last node, to which any target inside the step refers. */
  readonly endId: NodeId
  readonly nodes: readonly ConversationNode[]
}

export function stepsOf(path: readonly ConversationNode[]): Step[] {
  const steps: { id: NodeId; endId: NodeId; nodes: ConversationNode[] }[] = []
  for (const node of path) {
    const last = steps.at(-1)
    if (last !== undefined && last.id === node.stepId) {
      last.nodes.push(node)
      last.endId = node.id
    } else steps.push({ id: node.id, endId: node.id, nodes: [node] })
  }
  return steps
}

const noTags: readonly Tag[] = Object.freeze([])
const nothing = Object.freeze({})

/** Marks of a started call: whether it can be undone, whether it polls for something, and the input that it ran with. */
export type CallMarks = Pick<
  RecordOf<'tool.start'>,
  'irreversible' | 'reversible' | 'polls' | 'edited' | 'input' | 'background'
>

/** Returns the node for a record, as a child of `parent`. */
export function makeNode(
  record: RecordOf<'message.added' | 'reply.end' | 'tool.end'>,
  stepId: NodeId,
  parent: ConversationNode | undefined,
  counter: TokenCounter,
  { irreversible, reversible, polls, edited, input }: Partial<CallMarks> = nothing,
): ConversationNode {
  const tokens = counter.message(record.message)
  const ending = record.type === 'tool.end' && record.endsRun === true ? { ending: valueOf(record) } : {}
  const node: ConversationNode = {
    id: record.nodeId,
    parentId: record.parentId,
    message: record.message,
    runId: record.runId,
    turnIndex: record.turnIndex,
    stepId,
    tokens,
    pathTokens: (parent?.pathTokens ?? 0) + tokens,
    depth: (parent?.depth ?? 0) + 1,
    tags: noTags,
    ...ending,
  }
  if ((irreversible ?? reversible ?? polls ?? edited) === undefined) return node
  return {
    ...node,
    ...(irreversible ? { isIrreversible: true } : {}),
    ...(reversible ? { reversible: { seq: record.seq, isUndone: false } } : {}),
    ...(polls ? { isPolling: true } : {}),
    ...(edited ? { ranWith: { input } } : {}),
  }
}

/** Returns the calls of a reply with the arguments that they ran with. */
export function callsRun({ message }: ConversationNode, results: readonly ConversationNode[]): ToolCallBlock[] {
  const calls = toolCallsOf(message.content)
  const edited = results.filter(({ ranWith }) => ranWith !== undefined)
  if (edited.length === 0) return calls
  return calls.map((call) => {
    const result = edited.find((node) => node.message.role === 'toolResult' && node.message.callId === call.callId)
    return { ...call, ...result?.ranWith }
  })
}

/** Returns true if the effect of a call still stands, and its tool could undo it. A call that failed and kept nothing has had no effect. */
export function isStanding({ message, reversible }: ConversationNode): boolean {
  if (reversible === undefined || reversible.isUndone || message.role !== 'toolResult') return false
  return !message.isError || message.receipt !== undefined || message.synthetic !== undefined
}

/** Returns a copy, as a child of `parent`, of a user message that a revert would have removed. */
export const repeatNode = (original: ConversationNode, id: NodeId, parent: ConversationNode): ConversationNode => ({
  ...original,
  id,
  parentId: parent.id,
  stepId: id,
  pathTokens: parent.pathTokens + original.tokens,
  depth: parent.depth + 1,
  tags: noTags,
  rebasedFrom: original.id,
})

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

/** Notes the marks of a call that starts, or of a call that it makes, whose effects count as its own. */
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
