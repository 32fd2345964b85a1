import type { NodeId } from '../../protocol/ids.ts'
import type { Overlay } from '../../protocol/records.ts'
import type { Annotations, Tagged } from '../tree/annotations.ts'
import { renderNotice, renderTag } from './brakeNotes.ts'
import { renderFacts } from '../tree/facts.ts'
import { savedByCutting, type OverlaySubject } from './overlay.ts'
import { maskOf } from './maskedResults.ts'
import type { ConversationNode } from '../tree/node.ts'
import { isLeft, isWhole, type HiddenSpan, type HiddenSubject } from '../brakes/hiddenSpan.ts'
import { indexNote, notesOfSpan, stepOf } from '../brakes/prune/pruneNotes.ts'

/** The part of a conversation that notes are counted from. */
interface NoteSubject extends OverlaySubject, HiddenSubject {
  readonly overlay: Overlay | undefined
}

/** Estimated tokens of the notes beside the messages of a trunk. */
export interface NoteTokens {
  /** Tokens of tags, notices, memos, facts and the index. */
  readonly shown: number
  readonly index: number
  /** Tokens that hidden steps, masks and cut output remove. */
  readonly taken: number
}

export const noNotes: NoteTokens = Object.freeze({ shown: 0, index: 0, taken: 0 })

/** Counts the notes of a trunk, and the parts of its messages that are not shown. The cost grows with the number of tags and hidden spans. */
export function noteTokens(conversation: NoteSubject, annotations: Annotations | undefined): NoteTokens {
  const { counter, overlay } = conversation
  const isUncut = (node: ConversationNode): boolean =>
    annotations?.hiddenBy(node.stepId) !== undefined ||
    (annotations?.masked.has(node.stepId) === true && maskOf(node) !== undefined)
  let taken = overlay === undefined ? 0 : savedByCutting(overlay, conversation, isUncut)
  if (annotations === undefined) return { ...noNotes, taken }
  taken += annotations.masked.saved(conversation)
  let shown = 0
  const lessons = { lesson: 0, finding: 0 }
  for (const placed of annotations.tagged.toReversed()) {
    if (!conversation.onTrunk(placed.nodeId)) continue
    const { kind } = placed.tag
    const counted = (placed.tokens ??= tagTokens(placed, conversation))
    shown += counted.facts
    // Before any request says how long they are shown, the usual policy stands in: counting all would compact too early.
    const isOld = (kind === 'lesson' || kind === 'finding') && (lessons[kind] += 1) > 3
    if (placed.isShown ?? !isOld) shown += counted.tag
  }
  for (const span of annotations.hidden.spans) {
    const counted = spanTokens(span, conversation)
    shown += counted.notes
    taken += counted.steps
  }
  for (const [nodeId, notices] of annotations.notices) {
    if (!conversation.onTrunk(nodeId)) continue
    const isAll = isLeft(nodeId, conversation)
    for (const notice of notices)
      if (isAll || notice.summary === overlay!.nodeId) shown += counter.text(renderNotice(notice))
  }
  const indexed = annotations.hidden.index(conversation)
  const index = indexed === undefined ? 0 : counter.text(indexNote(indexed).text)
  return { shown: shown + index, index, taken }
}

const whole = new WeakMap<HiddenSpan, { readonly notes: number; readonly steps: number }>()

/** Returns the tokens of the notes for a hidden span, and of its remaining steps. */
function spanTokens(span: HiddenSpan, conversation: NoteSubject): { readonly notes: number; readonly steps: number } {
  const isAll = isWhole(span, conversation)
  const known = isAll ? whole.get(span) : undefined
  if (known !== undefined) return known
  const left = span.steps.filter((id) => isLeft(id, conversation))
  if (left.length === 0) return { notes: 0, steps: 0 }
  const counted = {
    notes: sum(notesOfSpan(span, conversation), ({ text }) => conversation.counter.text(text)),
    steps: sum(left, (id) => sum(stepOf(id, conversation).nodes, ({ tokens }) => tokens)),
  }
  if (isAll) whole.set(span, counted)
  return counted
}

const sum = <T>(items: readonly T[], valueOf: (item: T) => number): number =>
  items.reduce((total, item) => total + valueOf(item), 0)

function tagTokens({ tag, facts }: Tagged, conversation: NoteSubject): { tag: number; facts: number } {
  const quote = (id: NodeId) => conversation.node(id)?.message.content ?? []
  const { counter } = conversation
  return { tag: counter.text(renderTag(tag, quote)), facts: counter.text(renderFacts(facts, tag.abandoned)) }
}
