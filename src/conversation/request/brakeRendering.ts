import type { Tag } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import { formatNodeId } from '../../protocol/text/nodeIds.ts'
import type { Block } from '../../protocol/messages.ts'
import type { Overlay } from '../../protocol/records.ts'
import { renderNotice, renderRollUp, renderTag, type BrakeNote, type Notice } from './brakeNotes.ts'
import type { Conversation } from '../tree/conversation.ts'
import { renderFacts } from '../tree/facts.ts'
import { noteStep, type ShownIndex } from '../brakes/hiddenSpan.ts'
import type { ConversationNode } from '../tree/node.ts'
import { indexNote, notesOfSpan } from '../brakes/prune/pruneNotes.ts'
import { nextExpiry, rollUpCount, visibleTags, type PlacedTag, type TagPolicy } from './visibleTags.ts'

interface BrakedModel {
  readonly isBraked: boolean
  readonly canRecall: boolean
}

/** Renders everything that the model sees besides the messages: tags, memos and facts; with braking also step ids and notices. */
export class BrakeRendering {
  readonly #conversation: Conversation
  readonly #policy: TagPolicy
  readonly #isBraked: boolean
  readonly #canRecall: boolean
  #visible: readonly PlacedTag[] = []
  #shownTags: ReadonlySet<Tag> = new Set()
  /** The visible tags, and tags with only their facts shown. */
  #byNode: ReadonlyMap<NodeId, readonly PlacedTag[]> = new Map()
  /** Epoch of the last update. Between updates, the notes change only if the epoch does. */
  #epoch = -1
  #turn = 0
  #nextExpiry = 0
  /** The oldest checkpoints, shown as one after the last of them. */
  #rolledUp: readonly PlacedTag[] = []
  #index: { readonly epoch: number; readonly shown: ShownIndex | undefined } | undefined
  /** Tags that left the last request because of their age. */
  expired: readonly PlacedTag[] = []

  /** `isBraked`: this agent has brakes; otherwise only its past may have had them. `canRecall`: it can recall the steps that the index lists. */
  constructor(conversation: Conversation, policy: TagPolicy, { isBraked, canRecall }: BrakedModel) {
    this.#conversation = conversation
    this.#isBraked = isBraked
    this.#canRecall = canRecall
    this.#policy = policy
  }

  /**
   * Decides which tags the request of `turnIndex` shows. Returns the lowest depth whose notes differ from the last request. `changedDepth` is the
   * lowest depth that changes anyway, from which `lazy` decay may act.
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
    this.#shownTags = shown
    const noted = placed.filter(({ tag, facts }) => shown.has(tag) || facts.length > 0)
    this.#byNode = Map.groupBy(noted, ({ nodeId }) => nodeId)
    this.#nextExpiry = nextExpiry(next, this.#policy, turnIndex)
    const moved = [...gone, ...next.filter(({ tag }) => !before.has(tag))]
    const movedDepth = moved.reduce((least, { nodeId }) => Math.min(least, this.#depth(nodeId)), Infinity)
    const rolled = this.#rollUp(next, Math.min(changedDepth, movedDepth))
    return rolled.reduce((least, { nodeId }) => Math.min(least, this.#depth(nodeId)), movedDepth)
  }

  /** Tags of the last update: a new set after every change. */
  get shownTags(): ReadonlySet<Tag> {
    return this.#shownTags
  }

  /** Returns the notes that stand after a node. */
  notesAt(node: ConversationNode): BrakeNote[] {
    return [...this.#tagsAt(node.id), ...this.#noticesAt(node.id).map(brakeNote)]
  }

  #noticesAt(id: NodeId): readonly Notice[] {
    return (this.#isBraked ? this.#conversation.annotations?.noticesAt(id) : undefined) ?? []
  }

  /** Returns the notices that were given after a summary already covered the newest step. The summary does not repeat them. */
  noticesAfter({ nodeId, to }: Pick<Overlay, 'nodeId' | 'to'>): BrakeNote[] {
    return this.#noticesAt(to)
      .filter(({ summary }) => summary === nodeId)
      .map(brakeNote)
  }

  #tagsAt(nodeId: NodeId): BrakeNote[] {
    const quote = (id: NodeId): readonly Block[] => this.#conversation.node(id)?.message.content ?? []
    const rolled = this.#rolledUp.map(({ tag }) => tag)
    return (this.#byNode.get(nodeId) ?? []).flatMap((placed): BrakeNote[] => {
      const { tag } = placed
      if (!this.#visible.includes(placed)) return factsBehind([placed])
      if (!rolled.includes(tag)) return [{ kind: tag.kind, text: renderTag(tag, quote) }, ...factsBehind([placed])]
      if (tag !== rolled.at(-1)) return []
      return [{ kind: tag.kind, text: renderRollUp(rolled, quote) }, ...factsBehind(this.#rolledUp)]
    })
  }

  /** Returns the tags within a compacted span, oldest first. A summary does not replace them. */
  tagsWithin(from: number, to: number): BrakeNote[] {
    const isWithin = (id: NodeId): boolean => this.#depth(id) >= from && this.#depth(id) <= to
    const ids = [...this.#byNode.keys()].filter(isWithin).toSorted((a, b) => a - b)
    return ids.flatMap((id) => this.#tagsAt(id))
  }

  /** Returns the notes for the steps that a prune or fold hides, if this is the first of them that no summary covers. */
  insteadOf(stepId: NodeId): readonly BrakeNote[] {
    const span = this.#conversation.annotations?.hiddenBy(stepId)
    if (span === undefined || noteStep(span, this.#conversation) !== stepId) return []
    return notesOfSpan(span, this.#conversation)
  }

  /** Returns the index of names if it stands after one of these steps, and the model can recall the steps that it lists. */
  indexWithin(from: NodeId, to: NodeId): BrakeNote[] {
    const index = this.#canRecall ? this.#shownIndex() : undefined
    return index === undefined || index.at < from || index.at > to ? [] : [indexNote(index)]
  }

  /** Returns the index of names, cached by epoch: each hidden step asks for it, and making it costs its length. */
  #shownIndex(): ShownIndex | undefined {
    const { epoch, annotations } = this.#conversation
    if (this.#index?.epoch !== epoch) this.#index = { epoch, shown: annotations?.hidden.index(this.#conversation) }
    return this.#index.shown
  }

  #placedTags(): PlacedTag[] {
    const tagged = this.#conversation.annotations?.tagged ?? []
    return tagged
      .filter(({ nodeId }) => this.#conversation.onTrunk(nodeId))
      .map(({ nodeId, tag, facts }) => ({
        nodeId,
        tag,
        facts,
        isHolding: this.#conversation.node(nodeId)?.message.role === 'assistant',
      }))
  }

  /** Rolls up checkpoints only where the request changes anyway. Returns the checkpoints whose rendering has changed. */
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

const brakeNote = (notice: Notice): BrakeNote => ({ kind: notice.kind, text: renderNotice(notice) })

/** Returns the facts about the abandoned nodes of these tags, if there are any. */
function factsBehind(tags: readonly PlacedTag[]): BrakeNote[] {
  const text = renderFacts(
    tags.flatMap(({ facts }) => facts),
    tags.flatMap(({ tag }) => tag.abandoned),
  )
  return text === '' ? [] : [{ kind: 'facts', text }]
}

/** Returns a step's id as the model sees it, on its own line. */
export const renderId = (id: NodeId): string => `[${formatNodeId(id)}]`

/** Returns the content with the id of its step as a separate last line. */
export function withId(content: readonly Block[], id: NodeId): Block[] {
  const line = renderId(id)
  const last = content.at(-1)
  if (last?.type === 'text') return [...content.slice(0, -1), { type: 'text', text: `${last.text}\n${line}` }]
  return [...content, { type: 'text', text: line }]
}
