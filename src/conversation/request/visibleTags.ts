import type { Tag } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { Fact } from '../tree/facts.ts'

/** Policy for how long tags stay in the request. Turns are counted across runs. */
export interface TagPolicy {
  /** Maximum age at which every lesson or finding is shown, in turns. */
  readonly lessonWindowTurns: number
  /** Number of the newest lessons, and of the newest findings, that are shown at any age. */
  readonly lessonWindowCount: number
  /** `lazy`: an old tag stays until the request changes at or before it anyway, so the provider's cache holds. */
  readonly decay: 'exact' | 'lazy'
  /** Number of checkpoints above which the older half is shown as one note; the same happens above `maxCheckpointTokens`. */
  readonly maxCheckpoints: number
  readonly maxCheckpointTokens: number
}

export const defaultTagPolicy: TagPolicy = {
  lessonWindowTurns: 5,
  lessonWindowCount: 3,
  decay: 'lazy',
  maxCheckpoints: 4,
  maxCheckpointTokens: 30_000,
}

export interface PlacedTag {
  readonly nodeId: NodeId
  readonly tag: Tag
  /** Facts about the nodes that the revert abandoned: shown even when the tag no longer is. */
  readonly facts: readonly Fact[]
  /** True if the tag alone separates two replies, so it must stay. */
  readonly isHolding: boolean
}

/**
 * Returns the tags to show in the request of `turnIndex`. `tags`: the tags of the trunk, oldest first. Outcomes and
 * checkpoints are always shown. A tag that a newer one of its kind repeats is not. Pure.
 */
export function visibleTags(tags: readonly PlacedTag[], policy: TagPolicy, turnIndex: number): PlacedTag[] {
  const seen = new Set<string>()
  const newest = new Map<string, number>()
  const visible: PlacedTag[] = []
  for (const placed of tags.toReversed()) {
    const { kind, text, turnIndex: madeAt, lastReply = '' } = placed.tag
    const rank = newest.get(kind) ?? 0
    newest.set(kind, rank + 1)
    const isPinned = kind === 'outcome' || kind === 'checkpoint'
    const isFresh = turnIndex - madeAt <= policy.lessonWindowTurns || rank < policy.lessonWindowCount
    const saying = `${kind}\n${lastReply}\n${text}`
    const isRepeat = text !== '' && seen.has(saying)
    seen.add(saying)
    if (placed.isHolding || ((isPinned || isFresh) && !isRepeat)) visible.push(placed)
  }
  return visible.toReversed()
}

/** Returns how many of the oldest checkpoints are shown as one, given the tokens of each. Pure. */
export function rollUpCount(tokens: readonly number[], policy: TagPolicy): number {
  const total = tokens.reduce((sum, count) => sum + count, 0)
  const isMany = tokens.length > policy.maxCheckpoints || total > policy.maxCheckpointTokens
  return isMany && tokens.length > 1 ? Math.ceil(tokens.length / 2) : 0
}

/** Returns the first turn after `turnIndex` in which one of these tags may expire; `Infinity` if none can. Pure. */
export function nextExpiry(visible: readonly PlacedTag[], policy: TagPolicy, turnIndex: number): number {
  let next = Infinity
  for (const { tag } of visible) {
    if (tag.kind === 'outcome' || tag.kind === 'checkpoint') continue
    const turn = tag.turnIndex + policy.lessonWindowTurns + 1
    if (turn > turnIndex) next = Math.min(next, turn)
  }
  return next
}
