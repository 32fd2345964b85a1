import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk'
import type { PruneOutcome, RevertOutcome, Tag } from '../../protocol/braking.ts'
import { formatNodeId, type NodeId } from '../../protocol/ids.ts'
import type { PlainBlock, UserMessage } from '../../protocol/messages.ts'
import { contentBlock } from './toolCallShape.ts'

type ChunkKind = Extract<SessionUpdate['sessionUpdate'], `${string}_message_chunk` | 'agent_thought_chunk'>

/** A piece of a message; those of one message have one id. */
export const chunk = (sessionUpdate: ChunkKind, messageId: string, content: ContentBlock): SessionUpdate => ({
  sessionUpdate,
  messageId,
  content,
})

export const textChunk = (kind: ChunkKind, messageId: string, text: string): SessionUpdate =>
  chunk(kind, messageId, { type: 'text', text })

/** What a person said; nothing that the application added, such as a memory. */
export const userUpdates = (nodeId: number, { content, provenance }: UserMessage): SessionUpdate[] =>
  provenance === undefined
    ? content.map((block: PlainBlock) => chunk('user_message_chunk', `n${nodeId}`, contentBlock(block)))
    : []

/** A note of the runtime, which clients show like the model's thinking; `_meta` has it as data. */
export const note = (messageId: string, text: string, meta: object): SessionUpdate => ({
  sessionUpdate: 'agent_thought_chunk',
  messageId,
  content: { type: 'text', text },
  _meta: { escapement: meta },
})

/** A revert, with its tag. */
export const revertNote = (target: NodeId, tag: Tag, category?: RevertOutcome['category']): SessionUpdate => {
  const what = `Went back to ${formatNodeId(target)}: ${counted(tag.abandoned.length, 'message')} left the context.`
  const meta = { type: 'revert', target, kind: tag.kind, abandoned: tag.abandoned, ...(category && { category }) }
  return note(`revert-${tag.abandoned.at(-1) ?? 0}-${target}`, `${what}\n${tag.kind}: ${tag.text}`, meta)
}

export const pruneNote = ({ id, steps, tokens, memo }: PruneOutcome): SessionUpdate => {
  const what = `Hid ${counted(steps.length, 'step')} from the context (about ${Math.round(tokens)} tokens).`
  return note(`prune-${id}`, memo === undefined ? what : `${what}\n${memo}`, { type: 'prune', steps, tokens })
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
