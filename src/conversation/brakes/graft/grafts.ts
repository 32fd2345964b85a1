import type { GraftOutcome } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import type { AssistantMessage, Block, Message } from '../../../protocol/messages.ts'
import { noUsage, toolCallsOf } from '../../../protocol/text/messageText.ts'
import { formatNodeId } from '../../../protocol/text/nodeIds.ts'
import { note } from '../../request/brakeNotes.ts'
import type { ConversationNode } from '../../tree/node.ts'
import { renderMessage } from '../../request/renderMessage.ts'
import type { TokenCounter } from '../../limits/tokenCounter.ts'

export type Copied = GraftOutcome['copies'][number]

/** The part of a conversation that copies are made from. */
export interface GraftSubject {
  readonly counter: TokenCounter
  readonly path: readonly ConversationNode[]
  readonly lastNodeId: NodeId
  node(id: NodeId): ConversationNode | undefined
  onTrunk(id: NodeId): boolean
  stepEnd(node: ConversationNode): ConversationNode
  hasCall(callId: string): boolean
}

export type CopiedIn = Pick<ConversationNode, 'runId' | 'turnIndex'>

/** Returns the node that a copy repeats, which is not a copy itself; for any other node, its own id. */
export const originalOf = ({ id, copiedFrom = id }: ConversationNode): NodeId => copiedFrom

/** Returns true if a step of the model called no tools. */
const isSaid = ({ message }: Pick<ConversationNode, 'message'>): boolean => toolCallsOf(message.content).length === 0

/** The kind of the notes around copies. */
const kind = 'graft'

type Copy = Pick<ConversationNode, 'id' | 'stepId' | 'message' | 'copiedFrom'>

/** Returns the note in front of a copied step, which says where it comes from; `''` for any other node. */
function noteBefore(node: Copy, subject: Pick<GraftSubject, 'node' | 'stepEnd'>): string {
  if (node.copiedFrom === undefined || node.id !== node.stepId) return ''
  const first = subject.node(node.copiedFrom)!
  const nodes = [first.id, subject.stepEnd(first).id]
  return note(kind, nodes, 'copied from an abandoned branch; nothing was run again')
}

/**
 * Returns the note after a copy that ends with the model's text; `''` for any other node. Without it a request could end with a reply, or two replies
 * could follow each other.
 */
const noteAfter = (node: Copy): string =>
  node.copiedFrom === undefined || node.id !== node.stepId || !isSaid(node)
    ? ''
    : note(kind, [], `${formatNodeId(node.id)} ends here`)

export const copyNotes = { kind, before: noteBefore, after: noteAfter }

/**
 * Returns the nodes that a graft appends, each the child of the one before, the first a child of the head. Calls get new ids. Parts that are valid
 * only in their place are left out: thinking (which providers sign and link to the following text), the provider's own actions, and calls without a
 * copied result. Copies are no second effect: they carry no usage, change no files and end no call that cannot be undone.
 */
export function copiesOf(copies: readonly Copied[], place: CopiedIn, subject: GraftSubject): ConversationNode[] {
  const { counter } = subject
  const { runId, turnIndex } = place
  const made: ConversationNode[] = []
  const ids = callIdsOf(copies, subject)
  let stepId: NodeId = 0
  for (const { nodeId, from } of copies) {
    const original = subject.node(from)!
    const parent = made.at(-1) ?? subject.path.at(-1)!
    if (original.id === original.stepId) stepId = nodeId
    const message = copyOf(original.message, ids)
    const copy = { id: nodeId, parentId: parent.id, message, runId, turnIndex, stepId }
    const around = [noteBefore({ ...copy, copiedFrom: from }, subject), noteAfter({ ...copy, copiedFrom: from })]
    const tokens = around.reduce((sum, text) => sum + (text === '' ? 0 : counter.text(text)), counter.message(message))
    const depths = { tokens, pathTokens: parent.pathTokens + tokens, depth: parent.depth + 1 }
    made.push({ ...copy, ...depths, tags: noTags, copiedFrom: from })
  }
  return made
}

const noTags: readonly never[] = Object.freeze([])

function callIdsOf(copies: readonly Copied[], subject: GraftSubject): ReadonlyMap<string, string> {
  const ids = new Map<string, string>()
  for (const { nodeId, from } of copies) {
    const { message } = subject.node(from)!
    if (message.role !== 'toolResult') continue
    let callId = `graft${nodeId}`
    // A model may have made up the same.
    while (subject.hasCall(callId)) callId += 'x'
    ids.set(message.callId, callId)
  }
  return ids
}

function copyOf(message: Message, ids: ReadonlyMap<string, string>): Message {
  if (message.role === 'user') return message
  if (message.role === 'assistant') return copyReply(message, ids)
  const { changed: _, receipt: __, callId, ...result } = message
  return { ...result, callId: ids.get(callId) ?? callId }
}

/** Returns a reply in its copied form. `ids` maps the ids of copied calls to their new ids. */
export const copyReply = (message: AssistantMessage, ids: ReadonlyMap<string, string>): AssistantMessage => ({
  ...message,
  content: message.content.flatMap((block): Block[] => {
    switch (block.type) {
      case 'text':
      case 'image':
      case 'file':
        return [block]
      case 'toolCall': {
        const callId = ids.get(block.callId)
        return callId === undefined ? [] : [{ ...block, callId }]
      }
      // A source is shown to people, and never sent.
      case 'provider':
        return block.kind === 'source' ? [block] : []
      case 'thinking':
        return []
    }
  }),
  usage: noUsage,
})

/** Returns true if a copy of a reply with these results would be empty for the model. */
export function isEmptyCopy(reply: ConversationNode, results: readonly ConversationNode[]): boolean {
  const ids = new Map(
    results.flatMap(({ message }) =>
      message.role === 'toolResult' ? [[message.callId, message.callId] as const] : [],
    ),
  )
  return renderMessage(copyOf(reply.message, ids)) === undefined
}

/** Returns the reason why copies do not follow from the conversation; `undefined` if they do. */
export function wrongInGraft({ applied, copies }: GraftOutcome, subject: GraftSubject): string | undefined {
  if (applied !== copies.length > 0) return applied ? 'it copies nothing' : 'it was refused, and copies'
  let reply: ConversationNode | undefined
  let last: NodeId = 0
  const results: ConversationNode[] = []
  for (const [index, { nodeId, from }] of copies.entries()) {
    const node = subject.node(from)
    if (nodeId !== subject.lastNodeId + 1 + index) return 'its ids are not the next'
    if (node === undefined || node.copiedFrom !== undefined) return 'it copies what is not there, or a copy'
    if (node.message.role === 'user') return 'it copies a message of a person'
    if (subject.onTrunk(from)) return 'it copies what is on the trunk'
    if (from <= last) return 'its steps are not in order'
    last = from
    if (node.id === node.stepId) {
      if (reply !== undefined && isEmptyCopy(reply, results)) return 'a copy of it says nothing'
      reply = node
      results.length = 0
    } else if (node.stepId === reply?.id) results.push(node)
    else return 'it copies a result without its call'
  }
  return reply !== undefined && isEmptyCopy(reply, results) ? 'a copy of it says nothing' : undefined
}
