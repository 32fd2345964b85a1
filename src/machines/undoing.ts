import type { UndoStep } from '../protocol/undo.ts'
import { isBlocked, laterKept, ledgerOf, nextUndo, type Undoing } from '../protocol/undoLedger.ts'
import type { RevertOutcome } from '../protocol/braking.ts'
import type { AgentContext } from './agentTypes.ts'
import type { UndoInput, UndoOutput } from './drainTypes.ts'
import type { Draft } from './draft.ts'

/** Returns the key of the undo in progress, which stays the same for a call after a crash. */
export const undoKey = ({ agentId, undoing }: AgentContext): string =>
  undoing === null ? `${agentId}/undo` : `${undoing.id}/undo/n${nextUndo(undoing)?.call}`

export function undoInput({ agentId, undoing, ...context }: AgentContext): UndoInput {
  const { calls, steps } = undoing!
  const [call, ...later] = calls.slice(steps.length)
  const isSame = ({ what, together }: Undoing['calls'][number]): boolean => together === true && what === call!.what
  const earlier = call!.together === true ? later.filter(isSame).map((one) => one.call) : []
  return { agentId, key: undoKey({ agentId, undoing, ...context }), call: call!, earlier }
}

/** Begins to undo the effects of an applied revert, if it has any. */
export function beginUndo(draft: Draft, { undo }: RevertOutcome): void {
  if (undo !== undefined) goOnUndoing(draft)
}

/** Skips calls that must stay because of a newer one, and ends the undo when no call is left to try. */
export function goOnUndoing(draft: Draft): void {
  for (let { undoing } = draft.context; undoing !== null; undoing = draft.context.undoing) {
    const call = nextUndo(undoing)
    if (call === undefined) return endUndo(draft)
    if (!isBlocked(undoing, call)) return
    addStep(draft, { call: call.call, undone: false, why: laterKept })
  }
}

export function applyUndo(draft: Draft, { step, notStarted }: UndoOutput): void {
  if (notStarted !== undefined) return draft.set({ storeError: notStarted })
  addStep(draft, step)
  goOnUndoing(draft)
}

/** Marks a call as not undone because its undo effect broke down, and continues with the next call. */
export function failUndo(draft: Draft, why: string): void {
  const call = draft.context.undoing === null ? undefined : nextUndo(draft.context.undoing)
  if (call === undefined) return
  addStep(draft, { call: call.call, undone: false, why })
  goOnUndoing(draft)
}

function addStep(draft: Draft, step: UndoStep): void {
  const undoing = draft.context.undoing!
  draft.record({ type: 'undo.step', ...draft.at, id: undoing.id, ...step })
}

/** Records the outcome of the undo. `why`: the undo was given up, possibly while the first unanswered call was being undone. */
export function endUndo(draft: Draft, why = ''): void {
  const { undoing } = draft.context
  if (undoing === null) return
  const ledger = ledgerOf(undoing, (index) => (index === 0 ? `${why} while it was undone: look at it` : why))
  draft.record({ type: 'undo.end', ...draft.at, id: undoing.id, ...ledger })
}
