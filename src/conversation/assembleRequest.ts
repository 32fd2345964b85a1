import type { Provenance, ProvenanceKind } from '../protocol/provenance.ts'
import type { ModelRequest, ModelSettings, RequestMessage, ToolSpec } from '../protocol/model.ts'
import type { Overlay } from '../protocol/records.ts'
import { renderId } from './brakeNotes.ts'
import { BrakeRendering, withId } from './brakeRendering.ts'
import type { Conversation } from './conversation.ts'
import { GrowingList } from './growingList.ts'
import { brakeMarkers, noteMarkers, plainMarkers, type Markers } from './markers.ts'
import { neutraliseBlocks, type Unfinished } from './neutralise.ts'
import type { ConversationNode } from './node.ts'
import { renderSpanFacts, renderSummary, truncateResult } from './overlay.ts'
import { renderMessage } from './renderMessage.ts'
import { defaultTagPolicy, type PlacedTag, type TagPolicy } from './visibleTags.ts'

/** The parts of a request that stay the same for an agent's whole life. */
export interface RequestFrame {
  readonly system: string
  readonly tools: readonly ToolSpec[]
  readonly settings: ModelSettings
  /** Set for an agent with braking: its model sees step ids, tags and notes. */
  readonly braking?: TagPolicy
}

export class AssembledRequest {
  readonly request: ModelRequest
  /** Tags that this request shows no more because of their age. */
  readonly expired: readonly PlacedTag[]
  /** Its messages again, in an array that is made when asked for: the model's own is not kept alive by who is told of it. */
  readonly messages: () => readonly RequestMessage[]
  readonly #provenance: () => readonly Provenance[]

  constructor(
    request: ModelRequest,
    told: { readonly messages: AssembledRequest['messages']; readonly provenance: () => readonly Provenance[] },
    expired: readonly PlacedTag[],
  ) {
    this.request = request
    this.expired = expired
    this.messages = told.messages
    this.#provenance = told.provenance
  }

  /** One entry for each message. */
  get provenance(): readonly Provenance[] {
    return this.#provenance()
  }
}

/** How far the request had got once a node of the trunk was rendered. */
interface Mark {
  readonly messages: number
  /** The last message then: a later one may have been merged into it. */
  readonly last: RequestMessage | undefined
  readonly lastProvenance: Provenance | undefined
  readonly turnIndex: number
  readonly turnMessages: number
  /** What the last message ended with, if that could go on in the next. */
  readonly unfinished: Unfinished | undefined
}

const start: Mark = {
  messages: 0,
  last: undefined,
  lastProvenance: undefined,
  turnIndex: -1,
  turnMessages: 0,
  unfinished: undefined,
}

/**
 * Renders the trunk into a request. It keeps what it rendered, so a turn costs what is new: a revert takes it back to its
 * target, a compaction or prune to where it begins. A request it gave out is never changed afterwards.
 */
export class RequestAssembler {
  readonly #conversation: Conversation
  readonly #frame: Omit<RequestFrame, 'braking'>
  readonly #braking: BrakeRendering | undefined
  readonly #isBraked: boolean
  readonly #markers: Markers
  readonly #messages = new GrowingList<RequestMessage>()
  readonly #provenance = new GrowingList<Provenance>()
  /** After each rendered node of the trunk, by depth. */
  readonly #marks: Mark[] = [start]
  #epoch = 0
  #turn = { index: -1, messages: 0 }
  #unfinished: Unfinished | undefined

  constructor(conversation: Conversation, { braking, ...frame }: RequestFrame) {
    this.#conversation = conversation
    this.#frame = frame
    this.#isBraked = braking !== undefined
    // An agent without brakes may go on from a past that had them: what stands for its hidden steps is shown.
    const hasNotes = this.#isBraked || conversation.annotations !== undefined
    this.#markers = this.#isBraked ? brakeMarkers : hasNotes ? noteMarkers : plainMarkers
    this.#braking = hasNotes ? new BrakeRendering(conversation, braking ?? defaultTagPolicy, this.#isBraked) : undefined
  }

  /** The request of the trunk as it stands; `turnIndex` decides which tags are still shown. */
  assemble(turnIndex = 0): AssembledRequest {
    const { path, epoch, overlay } = this.#conversation
    let changed = this.#conversation.changedSince(this.#epoch)
    this.#epoch = epoch
    if (this.#braking !== undefined) changed = Math.min(changed, this.#braking.update(turnIndex, changed))
    this.#takeBack(Math.min(this.#wholeSpan(changed, overlay) - 1, path.length))
    while (this.#marks.length - 1 < path.length) this.#renderNext(path, overlay)
    const { repair } = this.#conversation
    const expired = this.#braking?.expired ?? []
    if (repair === undefined) return this.#rendered(expired)
    this.#pushNote({ kind: 'repair', text: repair })
    const asked = this.#rendered(expired)
    // It is no part of the trunk.
    this.#dropAfter(this.#marks.at(-1)!)
    return asked
  }

  #rendered(expired: readonly PlacedTag[]): AssembledRequest {
    const told = { messages: this.#messages.later(), provenance: this.#provenance.later() }
    return new AssembledRequest({ ...this.#frame, messages: this.#messages.copy() }, told, expired)
  }

  /** A compacted span is rendered all or nothing: a change inside it is one at its beginning. */
  #wholeSpan(changed: number, overlay: Overlay | undefined): number {
    if (overlay === undefined) return changed
    const from = this.#conversation.node(overlay.from)!.depth
    return changed <= this.#conversation.node(overlay.to)!.depth ? Math.min(changed, from) : changed
  }

  /** Forgets what was rendered beyond a depth. */
  #takeBack(depth: number): void {
    if (depth >= this.#marks.length - 1) return
    this.#marks.length = Math.max(0, depth) + 1
    this.#dropAfter(this.#marks.at(-1)!)
  }

  #dropAfter({ messages, last, lastProvenance, turnIndex, turnMessages, unfinished }: Mark): void {
    this.#messages.cut(messages)
    this.#provenance.cut(messages)
    if (last !== undefined && this.#messages.last !== last) this.#messages.replaceLast(last)
    if (lastProvenance !== undefined && this.#provenance.last !== lastProvenance)
      this.#provenance.replaceLast(lastProvenance)
    this.#turn = { index: turnIndex, messages: turnMessages }
    this.#unfinished = unfinished
  }

  #renderNext(path: readonly ConversationNode[], overlay: Overlay | undefined): void {
    const depth = this.#marks.length - 1
    const node = path[depth]!
    if (overlay?.from === node.id) {
      this.#renderOverlay(overlay)
      const end = this.#conversation.node(overlay.to)!
      while (this.#marks.length - 1 < end.depth - 1) this.#marks.push(this.#marks[depth]!)
      for (const note of this.#braking?.tagsWithin(node.depth, end.depth) ?? []) this.#pushNote(note)
    } else if (this.#conversation.annotations?.hiddenBy(node.stepId) !== undefined) {
      const instead = node.id === node.stepId ? this.#braking?.insteadOf(node.stepId) : undefined
      for (const note of instead ?? []) this.#pushNote(note)
      if (path[depth + 1]?.stepId !== node.stepId) this.#renderNotes(node)
    } else {
      const isRecent = overlay !== undefined && node.id > overlay.to && node.id <= overlay.recentTo
      this.#renderNode(node, isRecent ? truncateResult(node.message, overlay.maxToolOutputChars) : node.message)
      if (path[depth + 1]?.stepId !== node.stepId) this.#renderNotes(node)
    }
    this.#mark()
  }

  #mark(): void {
    this.#marks.push({
      messages: this.#messages.length,
      last: this.#messages.last,
      lastProvenance: this.#provenance.last,
      turnIndex: this.#turn.index,
      turnMessages: this.#turn.messages,
      unfinished: this.#unfinished,
    })
  }

  #renderOverlay(overlay: Overlay): void {
    const summary = renderSummary(overlay, this.#markers)
    const text = this.#isBraked ? `${summary}\n${renderId(overlay.nodeId)}` : summary
    this.#push({ role: 'user', content: [{ type: 'text', text }] }, { type: 'summary' })
    const facts = renderSpanFacts(overlay, this.#conversation, this.#markers)
    if (facts !== '') this.#pushNote({ kind: 'facts', text: facts })
    for (const id of overlay.kept) {
      const node = this.#conversation.node(id)!
      this.#renderNode(node, node.message, false)
    }
  }

  #renderNode(node: ConversationNode, message: ConversationNode['message'], showId = true): void {
    const rendered = renderMessage(message)
    if (rendered === undefined) return
    if (node.turnIndex !== this.#turn.index) this.#turn = { index: node.turnIndex, messages: 0 }
    const provenance = provenanceOf(node, this.#turn.messages++)
    if (rendered.role === 'assistant') return this.#push(rendered, provenance)
    const isMerged = rendered.role === 'user' && this.#messages.last?.role === 'user'
    const before = isMerged ? this.#unfinished : undefined
    const { content, unfinished } = neutraliseBlocks(rendered.content, this.#markers, before)
    const isStepEnd = showId && this.#conversation.path[node.depth]?.stepId !== node.stepId
    if (this.#isBraked && isStepEnd) return this.#push({ ...rendered, content: withId(content, node.id) }, provenance)
    this.#push(content === rendered.content ? rendered : { ...rendered, content }, provenance)
    this.#unfinished = unfinished
  }

  #renderNotes(node: ConversationNode): void {
    for (const note of this.#braking?.notesAt(node) ?? []) this.#pushNote(note)
  }

  #pushNote({ kind, text }: { kind: string; text: string }): void {
    this.#push({ role: 'user', content: [{ type: 'text', text }] }, { type: 'note', kind })
  }

  /** Providers want roles to alternate, so neighbouring user messages become one. */
  #push(message: RequestMessage, provenance: ProvenanceKind): void {
    this.#unfinished = undefined
    const { last } = this.#messages
    if (last?.role === 'user' && message.role === 'user') {
      const { merged = [], ...kind } = this.#provenance.last!
      this.#messages.replaceLast({ role: 'user', content: [...last.content, ...message.content] })
      this.#provenance.replaceLast({ ...kind, merged: [...merged, provenance] })
      return
    }
    this.#messages.push(message)
    this.#provenance.push(provenance)
  }
}

/** Renders a whole conversation once; `RequestAssembler` does the same turn by turn. */
export const assembleRequest = (conversation: Conversation, frame: RequestFrame, turnIndex = 0): AssembledRequest =>
  new RequestAssembler(conversation, frame).assemble(turnIndex)

function provenanceOf(node: ConversationNode, messageIndex: number): ProvenanceKind {
  const { role } = node.message
  if (node.message.role === 'user' && node.message.provenance !== undefined) return node.message.provenance
  if (node.message.role === 'user' && node.message.source !== 'prompt') return { type: node.message.source }
  return { type: 'loopTurn', turnIndex: node.turnIndex, role, messageIndex }
}
