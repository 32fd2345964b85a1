import type { NodeId } from '../../protocol/ids.ts'
import type { Message, PlainBlock } from '../../protocol/messages.ts'
import type { Overlay } from '../../protocol/records.ts'
import type { ConversationNode } from '../tree/node.ts'
import { cutMiddle } from '../../protocol/text/cutMiddle.ts'
import { factLines, factsOf, renderFactLines } from '../tree/facts.ts'
import { plainMarkers, type Markers } from './markers.ts'
import { neutralise } from './renderMessage.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'

/** The part of a conversation that overlays are computed from. */
export interface OverlaySubject {
  readonly path: readonly ConversationNode[]
  trunkAt(index: number): ConversationNode | undefined
  readonly counter: TokenCounter
  readonly annotations?: { readonly pinned: ReadonlySet<NodeId> } | undefined
  /** The overlay that was in force before. */
  readonly overlay?: Overlay | undefined
  node(id: NodeId): ConversationNode | undefined
  onTrunk(id: NodeId): boolean
}

/** An overlay of a conversation, with the estimated tokens that it saves over its span, and the tokens of its summary and facts. */
export interface LaidOverlay extends Overlay {
  /** Facts of the steps that it covers, a line each. They are known without its span. */
  readonly facts: string
  readonly saved: number
  readonly tokens: number
}

/** Returns true if a compaction leaves a node in its span word for word: messages of people, and pinned steps. */
export const staysWhole = (node: ConversationNode, { annotations }: Pick<OverlaySubject, 'annotations'>): boolean =>
  node.message.role === 'user' || annotations?.pinned.has(node.stepId) === true

/** Returns the reason why an overlay cannot be applied to this trunk; `undefined` if it can. */
export function wrongInOverlay(overlay: Overlay, subject: OverlaySubject): string | undefined {
  const { path } = subject
  const from = subject.node(overlay.from)
  const to = subject.node(overlay.to)
  if (from === undefined || to === undefined || !subject.onTrunk(from.id) || !subject.onTrunk(to.id)) {
    return 'its span is not on the trunk'
  }
  if (from.depth > to.depth) return 'its span ends before it begins'
  if (from.stepId !== from.id || path[to.depth]?.stepId === to.stepId) return 'its span cuts a step in two'
  const before = subject.overlay
  if (before !== undefined && subject.annotations?.pinned.has(before.nodeId) === true && to.id >= before.from)
    return 'it takes the place of a pinned summary'
  const whole = path.slice(from.depth - 1, to.depth).filter((node) => staysWhole(node, subject))
  return whole.map(({ id }) => id).join() === overlay.kept.join()
    ? undefined
    : 'it does not keep the user messages and pinned steps of its span'
}

/** Returns a summary as the model sees it: user-role text that cannot be mistaken for a message. */
export const renderSummary = ({ from, to, summary }: Overlay, markers: Markers = plainMarkers): string =>
  `<conversation-summary span="n${from}–n${to}">\n${neutralise(summary, markers)}\n</conversation-summary>`

/** Returns the facts of the steps that a summary covers, a line each; `''` if there are none. The cost grows with the length of the span. */
function factsOfSpan({ from, to, kept }: Overlay, subject: OverlaySubject): string {
  const shown = new Set(kept)
  const span = subject.path.slice(subject.node(from)!.depth - 1, subject.node(to)!.depth)
  const gone = span.filter(({ id }) => !shown.has(id))
  return factLines(factsOf(gone))
}

/** Renders the facts of the steps that a summary covers, as the model sees them. */
export const renderSpanFacts = (
  { from, to, facts }: Overlay & Pick<LaidOverlay, 'facts'>,
  markers: Markers = plainMarkers,
): string => renderFactLines(facts, [from, to], markers)

/** Returns the estimated tokens that the summary of an overlay saves over its span. The cost grows with the length of the span. */
export function savedBySummary(overlay: Overlay, subject: OverlaySubject): number {
  return savedBy(overlay, subject, summaryTokens({ ...overlay, facts: factsOfSpan(overlay, subject) }, subject))
}

function savedBy(overlay: Overlay, subject: OverlaySubject, tokens: number): number {
  const from = subject.node(overlay.from)!
  const to = subject.node(overlay.to)!
  const kept = overlay.kept.reduce((sum, id) => sum + (subject.node(id)?.tokens ?? 0), 0)
  const span = to.pathTokens - from.pathTokens + from.tokens
  return span - kept - tokens
}

/** Applies a compaction to the trunk: adds its facts and the tokens that it takes and saves. */
export function layOverlay(overlay: Overlay, subject: OverlaySubject): LaidOverlay {
  const facts = factsOfSpan(overlay, subject)
  const tokens = summaryTokens({ ...overlay, facts }, subject)
  return { ...overlay, facts, saved: savedBy(overlay, subject, tokens), tokens }
}

const summaryTokens = (overlay: Overlay & Pick<LaidOverlay, 'facts'>, { counter }: OverlaySubject): number =>
  counter.text(renderSummary(overlay)) + counter.text(renderSpanFacts(overlay))

/**
 * Returns the estimated tokens saved by cutting long tool output after the span, except where `isUncut` is true. The cost grows with the length of
 * that part.
 */
export function savedByCutting(
  overlay: Overlay,
  subject: OverlaySubject,
  isUncut: (node: ConversationNode) => boolean = () => false,
): number {
  let saved = 0
  for (let index = subject.node(overlay.to)!.depth; ; index += 1) {
    const node = subject.trunkAt(index)
    if (node === undefined || node.id > overlay.recentTo) break
    if (isUncut(node)) continue
    const cut = cutBy(overlay, node)
    if (cut !== node.message) saved += node.tokens - subject.counter.message(cut)
  }
  return saved
}

/** Returns a message as shown under an overlay: after its span, long tool output is cut. */
export const cutBy = (
  { to, recentTo, maxToolOutputChars, uncut }: Overlay,
  { id, message }: ConversationNode,
): Message =>
  id <= to || id > recentTo || uncut?.includes(id) === true ? message : truncateResult(message, maxToolOutputChars)

/**
 * Cuts the middle out of long tool output. Other messages and short output are returned unchanged, and so are answers of the runtime in a tool's
 * place, which may contain a person's words.
 */
export function truncateResult(message: Message, maxChars: number): Message {
  if (message.role !== 'toolResult' || message.synthetic !== undefined) return message
  if (!message.content.some((block) => block.type === 'text' && block.text.length > maxChars)) return message
  const content = message.content.map((block) =>
    block.type === 'text' ? ({ type: 'text', text: cutMiddle(block.text, maxChars) } satisfies PlainBlock) : block,
  )
  return { ...message, content }
}

export type OverlaySpan = Pick<LaidOverlay, 'nodeId' | 'from' | 'to'>

export interface OverlayReader {
  readOverlay(id: NodeId): LaidOverlay | undefined
}

const isWhole = (overlay: OverlaySpan | LaidOverlay): overlay is LaidOverlay => 'summary' in overlay

/** The overlays of a conversation, oldest first. A stored overlay is read on demand. */
export class LaidOverlays {
  readonly #all: (OverlaySpan | LaidOverlay)[]
  readonly #kept: OverlayReader | undefined

  constructor(spans: readonly OverlaySpan[] = [], kept?: OverlayReader) {
    this.#all = [...spans]
    this.#kept = kept
  }

  /** Positions of the overlays, in stored form. */
  get spans(): OverlaySpan[] {
    return this.#all.map(({ nodeId, from, to }) => ({ nodeId, from, to }))
  }

  /** Returns the newest overlay whose whole span is on the trunk. An older one applies again when a revert removes the newer. */
  active(subject: Pick<OverlaySubject, 'onTrunk'>): OverlaySpan | undefined {
    return this.#all.findLast(({ from, to }) => subject.onTrunk(from) && subject.onTrunk(to))
  }

  span(nodeId: NodeId): OverlaySpan | undefined {
    return this.#all.findLast((overlay) => overlay.nodeId === nodeId)
  }

  /** Returns the overlay of a summary. @throws Error if it is not where it was kept. */
  get(nodeId: NodeId): LaidOverlay | undefined {
    // The newest is asked for with every look at the conversation.
    const at = this.#all.findLastIndex((overlay) => overlay.nodeId === nodeId)
    const overlay = this.#all[at]
    if (overlay === undefined || isWhole(overlay)) return overlay
    const read = this.#kept?.readOverlay(nodeId)
    if (read === undefined) throw new Error(`the summary n${nodeId} is missing in what was kept`)
    return (this.#all[at] = read)
  }

  add(overlay: LaidOverlay): void {
    this.#all.push(overlay)
  }
}
