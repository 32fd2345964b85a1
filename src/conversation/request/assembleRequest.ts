import type { Tag } from '../../protocol/braking.ts'
import type { Block } from '../../protocol/messages.ts'
import type { Provenance } from '../../protocol/provenance.ts'
import type { ModelRequest, ModelSettings, RequestMessage, ToolSpec } from '../../protocol/ports/model.ts'
import type { Overlay } from '../../protocol/records.ts'
import { BrakeRendering, withId, renderId } from './brakeRendering.ts'
import type { Conversation } from '../tree/conversation.ts'
import { stepNotes } from '../brakes/brakeFolds.ts'
import { GrowingList, Origins, type Origin } from '../tree/origins.ts'
import { brakeMarkers, noteMarkers, plainMarkers, type Markers } from './markers.ts'
import {
  neutraliseBlocks,
  type Unfinished,
  closedReply,
  renderMessage,
  wellFormed,
  wellFormedOnce,
} from './renderMessage.ts'
import { shownMessage } from './maskedResults.ts'
import type { ConversationNode } from '../tree/node.ts'
import { renderSpanFacts, renderSummary, type LaidOverlay } from './overlay.ts'
import { recallName } from '../tree/stepText.ts'
import { defaultTagPolicy, type PlacedTag, type TagPolicy } from './visibleTags.ts'

/** The parts of a request besides the conversation. The brakes of an agent never change. */
export interface RequestFrame {
  readonly system: string
  readonly tools: readonly ToolSpec[]
  readonly settings: ModelSettings
  /** Set for an agent with braking: its model sees step ids, tags and notes. */
  readonly braking?: TagPolicy
  /** Set if the model has no tool that takes a step id, so none are shown. */
  readonly withoutIds?: boolean
}

/** The parts that may differ between turns. */
type TurnParts = Pick<RequestFrame, 'system' | 'tools' | 'settings'>

/** The parts of a request for listeners. Each is built on demand and then cached. */
export interface ToldRequest {
  /** Messages of the request, in a separate array from the model's. */
  readonly messages: () => readonly RequestMessage[]
  /** Origins of the messages, one entry for each. */
  readonly provenance: () => readonly Provenance[]
}

export class AssembledRequest {
  readonly request: ModelRequest
  /**
   * Parts of the request for listeners. It does not reference `request`, so that a listener to thousands of turns does not keep the array of each
   * turn.
   */
  readonly told: ToldRequest
  /** Tags that this request no longer shows because of their age. */
  readonly expired: readonly PlacedTag[]

  constructor(request: ModelRequest, told: ToldRequest, expired: readonly PlacedTag[]) {
    this.request = request
    this.told = told
    this.expired = expired
  }

  /** Origins of the messages, one entry for each. */
  get provenance(): readonly Provenance[] {
    return this.told.provenance()
  }
}

/** Marker instead of a position: the node added nothing, or was merged into the previous message. */
const joined = -1

/**
 * Renders the trunk into a request. It caches rendered messages, so a turn costs only its new ones. A revert goes back to its target, a compaction or
 * prune to its beginning. A returned request is never changed.
 */
export class RequestAssembler {
  readonly #conversation: Conversation
  #frame: TurnParts
  #braking: BrakeRendering | undefined
  readonly #isBraked: boolean
  readonly #showsIds: boolean
  readonly #canRecall: boolean
  #markers: Markers
  readonly #messages = new GrowingList<RequestMessage>()
  readonly #origins = new Origins()
  /** Number of messages before the one that each rendered node of the trunk began, or `joined`. */
  readonly #begins: number[] = []
  #epoch = 0
  /** Depth at which the span of the shown summary begins; 0 without one. */
  #spanDepth = 0
  /** The content of the last message, while no request contains it, since thousands of user messages may be merged into one. */
  #growing: Block[] | undefined
  /** The incomplete look-alike at the end of the last message, if the next message could complete it. */
  #unfinished: Unfinished | undefined

  constructor(conversation: Conversation, { braking, withoutIds = false, ...frame }: RequestFrame) {
    this.#conversation = conversation
    this.#frame = soundFrame(frame)
    this.#isBraked = braking !== undefined
    this.#showsIds = this.#isBraked && !withoutIds
    this.#canRecall = this.#isBraked && frame.tools.some(({ name }) => name === recallName)
    this.#markers = this.#isBraked ? brakeMarkers : plainMarkers
    if (this.#isBraked) this.#showNotes(braking)
  }

  #showNotes(tags = defaultTagPolicy): void {
    const model = { isBraked: this.#isBraked, canRecall: this.#canRecall }
    this.#braking = new BrakeRendering(this.#conversation, tags, model)
  }

  /**
   * Begins to render notes. An agent without brakes may continue a past that had them, and people may revert and hide steps. From the first hidden
   * step on its notes are shown, and all texts are searched for look-alikes of such notes.
   */
  #beginNotes(): void {
    if (this.#braking !== undefined || this.#conversation.annotations?.hasNotes !== true) return
    this.#markers = noteMarkers
    this.#showNotes()
    this.#takeBack(0)
  }

  /** Sets another frame for later requests. */
  reframe({ system, tools, settings }: TurnParts): void {
    this.#frame = soundFrame({ system, tools, settings })
  }

  /** Returns the request for the current trunk. `turnIndex` decides which tags are still shown. `note` follows the trunk. */
  assemble(turnIndex = 0, note?: string): AssembledRequest {
    this.#beginNotes()
    const { trunkLength: length, epoch, overlay } = this.#conversation
    let changed = this.#conversation.changedSince(this.#epoch)
    this.#epoch = epoch
    this.#spanDepth = overlay === undefined ? 0 : this.#conversation.depthOf(overlay.from)
    if (this.#braking !== undefined) changed = Math.min(changed, this.#braking.update(turnIndex, changed))
    this.#takeBack(Math.min(this.#wholeSpan(changed, overlay) - 1, length))
    while (this.#begins.length < length) this.#renderNext(overlay)
    const { repair } = this.#conversation
    this.#growing = undefined
    const expired = this.#braking?.expired ?? []
    if (repair === undefined && note === undefined) return this.#rendered(expired)
    const notes = [
      ...(note === undefined ? [] : [{ kind: 'limit', text: note }]),
      ...(repair === undefined ? [] : [{ kind: 'repair', text: repair }]),
    ]
    return this.#renderedWith(notes, expired)
  }

  /** The tags that the last request showed: a new set after every change; `undefined` without notes. */
  get shownTags(): ReadonlySet<Tag> | undefined {
    return this.#braking?.shownTags
  }

  /** Renders the trunk with additional notes at the end. */
  #renderedWith(notes: readonly { kind: string; text: string }[], expired: readonly PlacedTag[]): AssembledRequest {
    const { length, last } = this.#messages
    const origin = this.#origins.last
    const unfinished = this.#unfinished
    for (const note of notes) this.#pushNote(note)
    const asked = this.#rendered(expired)
    this.#cut(length)
    if (last !== undefined && this.#messages.last !== last) {
      this.#messages.replaceLast(last)
      this.#origins.replaceLast(origin!)
    }
    this.#unfinished = unfinished
    return asked
  }

  #rendered(expired: readonly PlacedTag[]): AssembledRequest {
    const told = { messages: this.#messages.later(), provenance: this.#origins.later() }
    return new AssembledRequest({ ...this.#frame, messages: this.#messages.copy() }, told, expired)
  }

  /** Returns the depth from which to render. A compacted span is rendered as a whole, so a change inside it counts as one at its beginning. */
  #wholeSpan(changed: number, overlay: Overlay | undefined): number {
    if (overlay === undefined) return changed
    return changed <= this.#conversation.depthOf(overlay.to) ? Math.min(changed, this.#spanDepth) : changed
  }

  /**
   * Discards the messages rendered beyond a depth, and further back to a node that began a message. Nodes after it may have been merged into that
   * message and are rendered again.
   */
  #takeBack(depth: number): void {
    if (depth >= this.#begins.length) return
    let from = Math.max(0, depth - 1)
    while (from > 0 && this.#begins[from] === joined) from -= 1
    this.#cut(Math.max(0, this.#begins[from]!))
    this.#begins.length = from
  }

  #cut(messages: number): void {
    this.#messages.cut(messages)
    this.#origins.cut(messages)
  }

  #renderNext(overlay: LaidOverlay | undefined): void {
    const depth = this.#begins.length
    const { length, last } = this.#messages
    const size = last?.content.length
    let spanned = 0
    // The steps that the summary stands for are not read for it.
    if (overlay !== undefined && this.#spanDepth === depth + 1) {
      this.#renderOverlay(overlay)
      const end = this.#conversation.depthOf(overlay.to)
      spanned = end - depth - 1
      for (const note of this.#braking?.tagsWithin(depth + 1, end) ?? []) this.#pushNote(note)
      for (const note of this.#braking?.noticesAfter(overlay) ?? []) this.#pushNote(note)
      for (const note of this.#braking?.indexWithin(overlay.from, overlay.to) ?? []) this.#pushNote(note)
    } else this.#renderAt(depth)
    const before = this.#messages.at(length - 1)
    const isAlone = length === 0 || (before === last && before?.content.length === size)
    const hasBegun = this.#messages.length > length && isAlone
    this.#begins.push(hasBegun ? length : joined)
    for (let within = 0; within < spanned; within += 1) this.#begins.push(joined)
  }

  /** Renders a node that no summary covers. */
  #renderAt(depth: number): void {
    const node = this.#conversation.trunkAt(depth)!
    if (this.#conversation.annotations?.hiddenBy(node.stepId) !== undefined) {
      const instead = node.id === node.stepId ? this.#braking?.insteadOf(node.stepId) : undefined
      for (const note of instead ?? []) this.#pushNote(note)
      if (this.#isStepEnd(node)) {
        this.#renderNotes(node)
        for (const note of this.#braking?.indexWithin(node.stepId, node.stepId) ?? []) this.#pushNote(note)
      }
    } else {
      this.#renderNode(node, shownMessage(node, this.#conversation, this.#canRecall))
      if (this.#isStepEnd(node)) this.#renderNotes(node)
    }
  }

  #renderOverlay(overlay: LaidOverlay): void {
    const summary = renderSummary(overlay, this.#markers)
    const text = this.#showsIds || this.#canRecall ? `${summary}\n${renderId(overlay.nodeId)}` : summary
    this.#push({ role: 'user', content: [{ type: 'text', text }] }, { type: 'summary' })
    const facts = renderSpanFacts(overlay, this.#markers)
    if (facts !== '') this.#pushNote({ kind: 'facts', text: facts })
    for (const id of overlay.kept) {
      const node = this.#conversation.node(id)!
      this.#renderNode(node, node.message, false)
    }
  }

  #renderNode(node: ConversationNode, message: ConversationNode['message'], showId = true): void {
    const rendered = renderMessage(message)
    if (rendered === undefined) return
    if (rendered.role === 'assistant') {
      if (node.copiedFrom === undefined) return this.#push(rendered, node)
      this.#pushCopyNote(stepNotes.before(node, this.#conversation))
      this.#push(rendered, node)
      return this.#pushCopyNote(stepNotes.after(node))
    }
    const isMerged = rendered.role === 'user' && this.#messages.last?.role === 'user'
    const before = isMerged ? this.#unfinished : undefined
    const { content, unfinished } = neutraliseBlocks(rendered.content, this.#markers, before)
    if (this.#showsIds && showId && this.#isStepEnd(node))
      return this.#push({ ...rendered, content: withId(content, node.id) }, node)
    this.#push(content === rendered.content ? rendered : { ...rendered, content }, node)
    this.#unfinished = unfinished
  }

  #isStepEnd({ depth, stepId }: ConversationNode): boolean {
    // The span of a summary begins with a step, and is not read to see that.
    if (depth + 1 === this.#spanDepth) return true
    return this.#conversation.trunkAt(depth)?.stepId !== stepId
  }

  #renderNotes(node: ConversationNode): void {
    for (const note of this.#braking?.notesAt(node) ?? []) this.#pushNote(note)
  }

  #pushCopyNote(text: string): void {
    if (text !== '') this.#pushNote({ kind: stepNotes.kind, text })
  }

  #pushNote({ kind, text }: { kind: string; text: string }): void {
    this.#push({ role: 'user', content: [{ type: 'text', text }] }, { type: 'note', kind })
  }

  /** Adds a message. Providers want roles to alternate, so neighbouring user messages become one. */
  #push(given: RequestMessage, origin: Origin): void {
    this.#unfinished = undefined
    // Whatever becomes part of a conversation's request comes by here.
    const message = wellFormed(given)
    const { last } = this.#messages
    if (last?.role === 'user' && message.role === 'user') {
      const block = last.content.length
      if (last.content === this.#growing) this.#growing.push(...message.content)
      else {
        this.#growing = [...last.content, ...message.content]
        this.#messages.replaceLast({ role: 'user', content: this.#growing })
      }
      this.#origins.merge(origin, block)
      return
    }
    if (last?.role === 'assistant') {
      const closed = closedReply(last, message)
      if (closed !== last) this.#messages.replaceLast(closed)
    }
    this.#messages.push(message)
    this.#origins.push(origin)
  }
}

const soundFrame = <T extends TurnParts>(frame: T): T => ({
  ...frame,
  system: frame.system.toWellFormed(),
  tools: wellFormedOnce(frame.tools),
  settings: wellFormedOnce(frame.settings),
})

/** Renders a whole conversation once; `RequestAssembler` does the same turn by turn. */
export const assembleRequest = (conversation: Conversation, frame: RequestFrame, turnIndex = 0): AssembledRequest =>
  new RequestAssembler(conversation, frame).assemble(turnIndex)
