import type { UndoLedger } from '../../../src/protocol/undo.ts'
import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk'
import { brakeWords } from '../../words/src/brakes/brakeWords.ts'
import type { PruneOutcome, RevertOutcome, StallOutcome, Tag } from '../../../src/protocol/braking.ts'
import { formatNodeId, type NodeId } from '../../../src/protocol/ids.ts'
import type { PlainBlock, UserMessage } from '../../../src/protocol/messages.ts'
import { isAsked } from '../../../src/protocol/asked.ts'
import { contentBlock } from './toolCallShape.ts'

type ChunkKind = Extract<SessionUpdate['sessionUpdate'], `${string}_message_chunk` | 'agent_thought_chunk'>

/** Returns a piece of a message. All pieces of a message share its id. */
export const chunk = (sessionUpdate: ChunkKind, messageId: string, content: ContentBlock): SessionUpdate => ({
  sessionUpdate,
  messageId,
  content,
})

export const textChunk = (kind: ChunkKind, messageId: string, text: string): SessionUpdate =>
  chunk(kind, messageId, { type: 'text', text })

/** Updates for a message of a person or another program; empty for messages that the application added, such as a memory. */
export const userUpdates = (nodeId: number, { content, provenance }: UserMessage): SessionUpdate[] =>
  isAsked(provenance)
    ? content.map((block: PlainBlock) => chunk('user_message_chunk', `n${nodeId}`, contentBlock(block)))
    : []

/** Returns a note from the runtime, which clients show like the model's thinking. `_meta` has it as data. */
export const note = (messageId: string, text: string, meta: object): SessionUpdate => ({
  sessionUpdate: 'agent_thought_chunk',
  messageId,
  content: { type: 'text', text },
  _meta: { escapement: meta },
})

/** Returns the note for a revert, with its tag. */
export const revertNote = (target: NodeId, tag: Tag, category?: RevertOutcome['category']): SessionUpdate => {
  const what = `Went back to ${formatNodeId(target)}: ${counted(tag.abandoned.length, 'message')} left the context.`
  const meta = { type: 'revert', target, kind: tag.kind, abandoned: tag.abandoned, ...(category && { category }) }
  return note(`revert-${tag.abandoned.at(-1) ?? 0}-${target}`, `${what}\n${tag.kind}: ${tag.text}`, meta)
}

/** Notes about the actions of brakes, by record type. */
export const brakeNotes = Object.fromEntries(
  Object.entries(brakeWords.chat).map(([type, words]) => [
    type,
    (outcome: Parameters<typeof words>[0]): SessionUpdate => {
      const { id, text, data } = words(outcome, { counted })
      return note(id, text, data)
    },
  ]),
) as {
  readonly [T in keyof typeof brakeWords.chat]: (outcome: Parameters<(typeof brakeWords.chat)[T]>[0]) => SessionUpdate
}

/** Returns a note about the outcome of undoing a revert. */
export const undoNote = (id: string, { undone, kept }: UndoLedger): SessionUpdate => {
  const lines = [
    ...(undone.length === 0 ? [] : [`Undone: ${undone.join(', ')}.`]),
    ...kept.map(({ what, why }) => `Not undone: ${what} (${why}).`),
  ]
  return note(`undo-${id}`, lines.join('\n') || 'Nothing was to be undone.', { type: 'undo', undone, kept })
}

export const pruneNote = ({ id, steps, tokens, memo, masked, shown }: PruneOutcome): SessionUpdate => {
  const whose = masked === true ? 'the results of ' : ''
  const whole = `${whose}${counted(steps.length, 'step')}`
  const size = `(about ${Math.round(tokens)} tokens)`
  const what = shown === true ? `Showed ${whole} again ${size}.` : `Hid ${whole} from the context ${size}.`
  return note(`prune-${id}`, memo === undefined ? what : `${what}\n${memo}`, {
    type: 'prune',
    steps,
    tokens,
    ...(masked && { masked }),
    ...(shown && { shown }),
  })
}

/** Returns a note about a detected loop. ACP has no stop reason for a loop, so a pause is sent as a message to the person. */
export const stallNote = ({ rule, first, target, steps, evidence, count, rung }: StallOutcome): SessionUpdate => {
  const messageId = `stall-${steps.at(-1)!}`
  const meta = { type: 'stall', rule, first, target, steps, count, rung }
  if (rung !== 'pause') return note(messageId, `Going in circles: ${evidence}.${stallWords[rung]}`, meta)
  const said = `Paused, as it went in circles: ${evidence}. Say something, and it goes on.`
  return { ...textChunk('agent_message_chunk', messageId, said), _meta: { escapement: meta } }
}

const stallWords: { readonly [R in Exclude<StallOutcome['rung'], 'pause'>]: string } = {
  note: ' The model is told.',
  revert: ' These steps are taken back.',
  none: '',
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
