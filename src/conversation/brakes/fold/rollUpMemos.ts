import type { Conversation } from '../../tree/conversation.ts'
import { usualPrices } from '../../limits/economics.ts'
import { digestOf, foldLine } from './foldLine.ts'
import { noteStep, rolledUp, stepsOnTrunk, type HiddenSpan, type RolledUp } from '../hiddenSpan.ts'
import { notesOfSpan, stepOf } from '../prune/pruneNotes.ts'
import { trunkSums } from '../../limits/trunkSums.ts'

/** Memos to be rewritten with less room. */
export interface RollUp {
  readonly parts: readonly RolledUp[]
  /** Estimated number of tokens by which the request shrinks. */
  readonly saved: number
}

export const noRollUp: RollUp = { parts: [], saved: 0 }

/** Extra cost of a token that the provider reads anew, compared with one from its cache, in units of the latter. */
const rewriting = (usualPrices.cacheWrite - usualPrices.cacheRead) / usualPrices.cacheRead

/** Share of `low` that memos may take. */
const mostOfLow = 1 / 4
/**
 * Shares of that room: `newestKeep` for the newest memos when it is full, `aimedAt` for all of them afterwards; above that, older ones become a
 * digest.
 */
const newestKeep = 1 / 2
const aimedAt = 0.85

/**
 * Rewrites older memos. Memos with a line per step get shorter lines; memos with short lines become one digest, which includes the previous one. It
 * is due when keeping the surplus has cost as much as rewriting, or when memos take more than a quarter of `low`. New memos are always made from the
 * steps themselves, never from a memo. Pure.
 */
export function rollUpMemos(conversation: Conversation, low: number): RollUp {
  const folds = (conversation.annotations?.hidden.spans ?? [])
    .filter((span) => span.fold !== undefined && noteStep(span, conversation) !== undefined)
    .toSorted((a, b) => a.steps[0]! - b.steps[0]!)
  const tokens = folds.map((span) => memoTokens(conversation, span))
  const memos = sum(tokens)
  const room = mostOfLow * low
  if (memos <= room) return ifItPays(conversation, folds.slice(0, Math.floor(folds.length / 2)), memos)
  let count = folds.length
  for (let left = newestKeep * room; count > 0 && tokens[count - 1]! <= left; count--) left -= tokens[count - 1]!
  const older = folds.slice(0, count)
  const shortened = rewrite(conversation, older, 'shortLine')
  if (memos - shortened.saved <= aimedAt * room) return shortened
  const digested = rewrite(conversation, older, 'digest')
  return digested.saved > shortened.saved ? digested : shortened
}

/** Rewrites older memos if that pays. `memos`: tokens of all memos, the maximum saving. This check costs less than writing shorter memos. */
function ifItPays(conversation: Conversation, older: readonly HiddenSpan[], memos: number): RollUp {
  if (older.length === 0 || !pays(conversation, older, memos)) return noRollUp
  const rolled = rewrite(conversation, older, 'shortLine')
  return pays(conversation, older, rolled.saved) ? rolled : noRollUp
}

/** Rewrites older memos. `least`: the detail to which a memo with a line per step is reduced. A memo that would not shrink is left alone. */
function rewrite(conversation: Conversation, older: readonly HiddenSpan[], least: 'shortLine' | 'digest'): RollUp {
  const parts: RolledUp[] = []
  let saved = 0
  const replace = (spans: readonly HiddenSpan[], detail: RolledUp['detail'], memo: string): void => {
    const before = sum(spans.map((span) => tokensOf(conversation, span)))
    const gain = before - tokensOf(conversation, rolledUp(spans, { detail, memo }, conversation))
    if (gain <= 0) return
    parts.push({ folds: spans.flatMap(({ fold }) => fold!.ids), detail, memo })
    saved += gain
  }
  const isShortened = ({ fold }: HiddenSpan): boolean => least === 'shortLine' && fold!.detail === 'line'
  for (const span of older.filter(isShortened)) {
    const lines = stepsOnTrunk([span], conversation).map((id) => foldLine(stepOf(id, conversation), true))
    replace([span], 'shortLine', lines.join('\n'))
  }
  const digested = older.filter((span) => !isShortened(span))
  if (digested.some(({ fold }) => fold!.detail !== 'digest')) {
    const steps = stepsOnTrunk(digested, conversation).map((id) => stepOf(id, conversation))
    replace(digested, 'digest', digestOf(steps))
  }
  return { parts, saved }
}

/** Returns the tokens of a memo, without the facts beside a digest, which cannot be shortened. */
function memoTokens(conversation: Conversation, span: HiddenSpan): number {
  const memo = notesOfSpan(span, conversation).find(({ kind }) => kind === 'memo')
  return memo === undefined ? 0 : conversation.counter.text(memo.text)
}

const tokensOf = (conversation: Conversation, span: HiddenSpan): number =>
  sum(notesOfSpan(span, conversation).map(({ text }) => conversation.counter.text(text)))

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Returns the number of replies since a memo was written. Each of their requests contained it. */
function repliesSince(conversation: Conversation, { fold }: HiddenSpan): number {
  const sums = trunkSums(conversation)
  const written = conversation.node(fold!.writtenAt)
  return written === undefined || !conversation.onTrunk(written.id) ? 0 : sums.replies - sums.at(written.depth).replies
}

/** Returns the tokens that the provider would have to read anew, which are all that follow the oldest memo. */
function rewritten(conversation: Conversation, older: readonly HiddenSpan[]): number {
  const first = conversation.node(older[0]!.steps[0]!)!
  return Math.max(0, conversation.trunkTokens - trunkSums(conversation).at(first.depth - 1).user)
}

function pays(conversation: Conversation, older: readonly HiddenSpan[], saved: number): boolean {
  const waited = sum(older.map((span) => repliesSince(conversation, span))) / older.length
  return saved * waited >= rewriting * rewritten(conversation, older)
}
