import type { PruneOutcome } from '../protocol/braking.ts'
import { renderMemo } from './brakeNotes.ts'
import type { Conversation } from './conversation.ts'
import { digestOf, foldLine } from './foldLine.ts'
import type { HiddenSpan } from './hiddenSteps.ts'
import { isWhole, notesOfSpan, stepOf } from './pruneNotes.ts'
import { trunkSums } from './trunkSums.ts'

type RolledUp = NonNullable<PruneOutcome['rolled']>[number]

/** Memos to be rewritten with less room. */
export interface RollUp {
  readonly parts: readonly RolledUp[]
  /** Estimated tokens that the request gets smaller by. */
  readonly saved: number
}

const nothing: RollUp = { parts: [], saved: 0 }

/** What a token costs that the provider has to read anew, over what it costs from its cache: 1.25 less .1, over .1. */
const rewriting = 11.5

/**
 * Rewrites the older half of the memos: those with a line a step get shorter lines, those with short lines become one digest, which takes
 * in the one before it. It is due when keeping the surplus has cost what rewriting costs, or when memos take more than a quarter
 * of `low`. Always made from the steps themselves, never from a memo. Pure.
 */
export function rollUpMemos(conversation: Conversation, low: number): RollUp {
  const folds = (conversation.annotations?.hidden.spans ?? [])
    .filter((span) => span.fold !== undefined && isWhole(span, conversation))
    .toSorted((a, b) => a.steps[0]! - b.steps[0]!)
  const older = folds.slice(0, Math.floor(folds.length / 2))
  if (older.length === 0) return nothing
  const { notes } = conversation
  const isCrowded = notes.shown - notes.index > low / 4
  if (!isCrowded && !mayPay(conversation, older)) return nothing
  const rolled = rewrite(conversation, older)
  return isCrowded || pays(conversation, older, rolled.saved) ? rolled : nothing
}

function rewrite(conversation: Conversation, older: readonly HiddenSpan[]): RollUp {
  const { counter } = conversation
  const tokensOf = (span: HiddenSpan): number =>
    notesOfSpan(span, conversation).reduce((sum, { text }) => sum + counter.text(text), 0)
  const parts: RolledUp[] = []
  const shortened = older.filter(({ fold }) => fold!.detail === 'line')
  const digested = older.filter(({ fold }) => fold!.detail !== 'line')
  let saved = 0
  for (const span of shortened) {
    const memo = span.steps.map((id) => foldLine(stepOf(id, conversation), true)).join('\n')
    parts.push({ folds: span.fold!.ids, detail: 'shortLine', memo })
    saved += tokensOf(span) - counter.text(renderMemo(memo, span.steps))
  }
  if (digested.some(({ fold }) => fold!.detail === 'shortLine')) {
    const steps = digested.flatMap((span) => span.steps).toSorted((a, b) => a - b)
    const memo = digestOf(steps.map((id) => stepOf(id, conversation)))
    const folds = digested.flatMap(({ fold }) => fold!.ids)
    parts.push({ folds, detail: 'digest', memo })
    const fold = { ...digested[0]!.fold!, detail: 'digest' } as const
    const after = tokensOf({ ...digested[0]!, steps, memo, fold })
    saved += digested.reduce((sum, span) => sum + tokensOf(span), 0) - after
  }
  return saved > 0 ? { parts, saved } : nothing
}

/** Replies since a memo was written, each of which was sent it. */
function repliesSince(conversation: Conversation, { fold }: HiddenSpan): number {
  const sums = trunkSums(conversation)
  const written = conversation.node(fold!.writtenAt)
  return written === undefined || !conversation.onTrunk(written.id) ? 0 : sums.replies - sums.at(written.depth).replies
}

/** What a rewriting would have to read anew: all that stands behind the oldest memo. */
function rewritten(conversation: Conversation, older: readonly HiddenSpan[]): number {
  const first = conversation.node(older[0]!.steps[0]!)!
  return Math.max(0, conversation.trunkTokens - trunkSums(conversation).at(first.depth - 1).user)
}

function pays(conversation: Conversation, older: readonly HiddenSpan[], saved: number): boolean {
  const waited = older.reduce((sum, span) => sum + repliesSince(conversation, span), 0) / older.length
  return saved * waited >= rewriting * rewritten(conversation, older)
}

/** Whether rewriting could pay if it saved all of the memos: asked first, as it costs less than to write them. */
const mayPay = (conversation: Conversation, older: readonly HiddenSpan[]): boolean =>
  pays(conversation, older, conversation.notes.shown - conversation.notes.index)
