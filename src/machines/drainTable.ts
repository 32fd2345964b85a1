import type { AskedBrake, OutcomeOf } from '../protocol/brakes/brakeTable.ts'
import type { AgentContext } from './agentTypes.ts'
import { releaseAbandoned } from './background.ts'
import { forgetFold, recordOutcome, refuse } from './brakes.ts'
import type { Draft } from './draft.ts'
import type { DrainOutput, Reckoning } from './drainTypes.ts'
import type * as conditions from './conditions.ts'
import { lowHeadroom, mustReply } from './conditions.ts'
import { beginUndo } from './undoing.ts'

/** The part of a drain that differs from brake to brake. */
interface Row<K extends AskedBrake> {
  /** The guard that opens the drain. */
  readonly guard: keyof typeof conditions & `${K}${'Enabled' | 'Requested'}`
  /** State entered before those of the next brakes: the same drain `again`, or the undoing of its effects. */
  readonly next?: 'again' | 'undoing'
  /** Input of the drain's effect in addition to the requests. */
  readonly input?: (context: AgentContext) => K extends 'revert' ? Reckoning : object
  /** Makes the changes that precede the outcomes. */
  readonly first?: (draft: Draft, output: DrainOutput<K>) => void
  /** Makes the changes that follow the record of an outcome. */
  readonly after?: (draft: Draft, outcome: OutcomeOf<K>) => void
  /** Returns the ids of requests that are left to a later drain. */
  readonly held?: (draft: Draft, output: DrainOutput<K>) => readonly string[]
}

/** The drains of requests, in their order. */
export const drainTable: { readonly [K in AskedBrake]: Row<K> } = {
  // First, so that what is pinned together with a revert holds against it.
  pin: { guard: 'pinRequested', next: 'again' },
  revert: {
    guard: 'revertEnabled',
    next: 'undoing',
    input: reckoning,
    first: (draft, { hidden = [] }) => {
      for (const outcome of hidden) draft.record({ type: 'prune.applied', ...draft.at, ...outcome })
      if (hidden.length > 0) takeOff(draft)
    },
    after: (draft, outcome) => {
      if (!outcome.applied) return
      takeOff(draft)
      const last = outcome.rebased?.at(-1)?.nodeId
      draft.set(last === undefined ? { head: outcome.target } : { head: last, lastNodeId: last })
      beginUndo(draft, outcome)
      releaseAbandoned(draft)
    },
    // At rest nothing is held back: the next drain would follow at once.
    held: ({ context }, { held = [] }) => (context.run === null ? [] : held),
  },
  // After reverts: what was asked back together with a revert may stand on the branch that this abandoned.
  graft: {
    guard: 'graftRequested',
    after: (draft, { copies }) => {
      const last = copies.at(-1)?.nodeId
      if (last === undefined) return
      forgetFold(draft)
      draft.set({ head: last, lastNodeId: last })
    },
  },
  prune: {
    guard: 'pruneEnabled',
    after: (draft, { applied }) => {
      if (applied) takeOff(draft)
    },
  },
}

/** Resets the measured sizes, which no longer hold because the trunk became shorter. */
function takeOff(draft: Draft): void {
  forgetFold(draft)
  draft.set({ compactedAt: 0 })
}

function reckoning(context: AgentContext): Reckoning {
  const { turns, run } = context
  const expected = Math.max(1, run?.turns ?? 0)
  return { turnIndex: Math.max(0, turns - 1), outlook: outlookOf(context), expected }
}

/** Returns the outlook after a drain, which decides whether reverts that would not pay yet are held back. */
function outlookOf(context: AgentContext): Reckoning['outlook'] {
  const subject = { context, event: { type: 'wake' } } as const
  if (lowHeadroom(subject)) return 'crowded'
  return mustReply(subject) ? 'goesOn' : 'ends'
}

/** Records the outcomes of a drain, and moves the head. */
export function applyDrain<K extends AskedBrake>(draft: Draft, kind: K, output: DrainOutput<K>): void {
  const { first, after, held }: Row<K> = drainTable[kind]
  first?.(draft, output)
  for (const outcome of output.outcomes) {
    recordOutcome(draft, kind, outcome)
    after?.(draft, outcome)
  }
  const left = held?.(draft, output) ?? []
  const answered = draft.context.drained.filter((id) => !left.includes(id))
  refuse(draft, kind, 'the drain gave no answer', answered)
  if (output.contextTokens !== undefined) draft.set({ contextTokens: output.contextTokens })
}
