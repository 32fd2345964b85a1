import type { NodeId } from '../protocol/ids.ts'
import type { Block } from '../protocol/messages.ts'
import type { RequestMessage } from '../protocol/model.ts'
import { neutralise, renderId, renderMemo, renderRefusal, renderRollUp, renderTag } from './brakeNotes.ts'
import type { Conversation } from './conversation.ts'
import type { ConversationNode } from './node.ts'
import { nextExpiry, rollUpCount, visibleTags, type PlacedTag, type TagPolicy } from './visibleTags.ts'

export interface BrakeNote {
  readonly kind: string
  readonly text: string
}

/** What a braked agent's model sees beside the messages: step ids, tags, refusals, memos. */
export class BrakeRendering {
  readonly #conversation: Conversation
  readonly #policy: TagPolicy
  #visible: readonly PlacedTag[] = []
  #byNode: ReadonlyMap<NodeId, readonly PlacedTag[]> = new Map()
  /** Nothing changes between these but by the epoch. */
  #epoch = -1
  #turn = 0
  #nextExpiry = 0
  /** The oldest checkpoints, shown as one after the last of them. */
  #rolledUp: readonly PlacedTag[] = []
  /** Tags that went out of the last request by age. */
  expired: readonly PlacedTag[] = []

  constructor(conversation: Conversation, policy: TagPolicy) {
    this.#conversation = conversation
    this.#policy = policy
  }

  /**
   * Decides which tags the request of `turnIndex` shows. Gives the lowest depth whose notes differ from the last request;
   * `changedDepth` is the lowest that changes anyway, where `lazy` decay may act.
   */
  update(turnIndex: number, changedDepth: number): number {
    this.expired = []
    if (this.#conversation.epoch === this.#epoch && turnIndex >= this.#turn && turnIndex < this.#nextExpiry)
      return Infinity
    this.#epoch = this.#conversation.epoch
    this.#turn = turnIndex
    const placed = this.#placedTags()
    const wanted = new Set(visibleTags(placed, this.#policy, turnIndex).map(({ tag }) => tag))
    const before = new Set(this.#visible.map(({ tag }) => tag))
    const isLazy = this.#policy.decay === 'lazy'
    const next = placed.filter(({ nodeId, tag }) => {
      if (wanted.has(tag)) return true
      return isLazy && before.has(tag) && this.#depth(nodeId) < changedDepth
    })
    const shown = new Set(next.map(({ tag }) => tag))
    const gone = this.#visible.filter(({ tag, nodeId }) => !shown.has(tag) && this.#conversation.onTrunk(nodeId))
    // One that a newer tag repeats is still being said.
    this.expired = gone.filter(
      ({ tag }) => !next.some((other) => other.tag.kind === tag.kind && other.tag.text === tag.text),
    )
    this.#visible = next
    this.#byNode = Map.groupBy(next, ({ nodeId }) => nodeId)
    this.#nextExpiry = nextExpiry(next, this.#policy, turnIndex)
    const rolled = this.#rollUp(next, changedDepth)
    const differing = [...gone, ...next.filter(({ tag }) => !before.has(tag)), ...rolled]
    return Math.min(Infinity, ...differing.map(({ nodeId }) => this.#depth(nodeId)))
  }

  /** Notes that stand after a node. */
  notesAt(node: ConversationNode): BrakeNote[] {
    const refusals = this.#conversation.annotations?.refusalsAt(node.id) ?? []
    return [...this.#tagsAt(node.id), ...refusals.map((reason) => ({ kind: 'refusal', text: renderRefusal(reason) }))]
  }

  #tagsAt(nodeId: NodeId): BrakeNote[] {
    const quote = (id: NodeId): readonly Block[] => this.#conversation.node(id)?.message.content ?? []
    const rolled = this.#rolledUp.map(({ tag }) => tag)
    return (this.#byNode.get(nodeId) ?? [])
      .filter(({ tag }) => !rolled.includes(tag) || tag === rolled.at(-1))
      .map(({ tag }) => ({
        kind: tag.kind,
        text: rolled.includes(tag) ? renderRollUp(rolled, quote) : renderTag(tag, quote),
      }))
  }

  /** Tags within a compacted span, oldest first: a summary does not take their place. */
  tagsWithin(from: number, to: number): BrakeNote[] {
    const isWithin = (id: NodeId): boolean => this.#depth(id) >= from && this.#depth(id) <= to
    const ids = [...this.#byNode.keys()].filter(isWithin).toSorted((a, b) => a - b)
    return ids.flatMap((id) => this.#tagsAt(id))
  }

  /** The memo of the prune that hides a step, if this is the first step it hides. */
  memoAt(stepId: NodeId): BrakeNote | undefined {
    const prune = this.#conversation.annotations?.hiddenBy(stepId)
    if (prune?.memo === undefined || prune.steps[0] !== stepId) return undefined
    return { kind: 'memo', text: renderMemo(prune.memo, prune.steps) }
  }

  /** The message with look-alikes made harmless and, at the end of its step, the step's id as a line of its own. */
  mark(message: RequestMessage, id: NodeId, isStepEnd: boolean): RequestMessage {
    if (message.role === 'assistant') return message
    const content = message.content.map((block): Block =>
      block.type === 'text' ? { ...block, text: neutralise(block.text) } : block,
    )
    return { ...message, content: isStepEnd ? withLastLine(content, renderId(id)) : content }
  }

  #placedTags(): PlacedTag[] {
    return this.#conversation.tags().map(({ nodeId, tag }) => ({
      nodeId,
      tag,
      isHolding: this.#conversation.node(nodeId)?.message.role === 'assistant',
    }))
  }

  /** Rolls checkpoints up only where the request changes anyway; gives those whose rendering differs from before. */
  #rollUp(visible: readonly PlacedTag[], changedDepth: number): readonly PlacedTag[] {
    const checkpoints = visible.filter(({ tag }) => tag.kind === 'checkpoint')
    const first = checkpoints[0]
    const shown = new Set(checkpoints.map(({ tag }) => tag))
    const isWhole = this.#rolledUp.every(({ tag }) => shown.has(tag))
    if (first === undefined || (isWhole && changedDepth > this.#depth(first.nodeId))) return []
    const { counter } = this.#conversation
    const count = rollUpCount(
      checkpoints.map(({ tag }) => counter.text(tag.text)),
      this.#policy,
    )
    const before = this.#rolledUp
    this.#rolledUp = checkpoints.slice(0, count)
    return before.length === count && before.every(({ tag }, index) => tag === this.#rolledUp[index]?.tag)
      ? []
      : checkpoints
  }

  #depth(id: NodeId): number {
    return this.#conversation.node(id)?.depth ?? Infinity
  }
}

function withLastLine(content: readonly Block[], line: string): Block[] {
  const last = content.at(-1)
  if (last?.type === 'text') return [...content.slice(0, -1), { type: 'text', text: `${last.text}\n${line}` }]
  return [...content, { type: 'text', text: line }]
}
