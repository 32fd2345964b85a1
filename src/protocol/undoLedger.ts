import type { UndoCall, UndoLedger, UndoPlan, UndoStep } from './undo.ts'

/** An undo in progress: its plan and the steps done so far. */
export interface Undoing extends UndoPlan {
  /** Id of the revert. */
  readonly id: string
  readonly steps: readonly UndoStep[]
}

export const laterKept = 'a later change of it was not undone'
export const unfinished = 'it is not known to be undone: undoing it has not ended'

/** Returns the next call to be undone; `undefined` once all have been tried. */
export const nextUndo = ({ calls, steps }: Undoing): UndoCall | undefined => calls[steps.length]

/** Returns true if a newer call on the same thing was not undone, so this one must stay as well. */
export function isBlocked({ calls, steps }: Undoing, { what, together }: UndoCall): boolean {
  if (together === undefined) return false
  return steps.some(({ undone }, index) => {
    const before = calls[index]!
    return !undone && before.together === true && before.what === what
  })
}

/** Returns the ledger of an undo, finished or not. `why` returns the reason for a call that was not tried, by its index. */
export function ledgerOf(
  { calls, kept, steps }: Undoing,
  why: (index: number) => string = () => unfinished,
): UndoLedger {
  const things = new Map<string, { readonly what: string; why?: string | undefined }>()
  // The oldest first, as people read; the newest that was not undone is the reason.
  for (let index = calls.length - 1; index >= 0; index--) {
    const { call, what, together } = calls[index]!
    const key = together === true ? `of ${what}` : `call ${call}`
    const thing = things.get(key) ?? { what }
    things.set(key, thing)
    const step = steps[index]
    if (step?.undone !== true) thing.why = step === undefined ? why(index - steps.length) : (step.why ?? laterKept)
  }
  const all = [...things.values()]
  const left = all.flatMap(({ what, why: because }) => (because === undefined ? [] : { what, why: because }))
  return {
    undone: unique(all.flatMap((thing) => (thing.why === undefined ? thing.what : []))),
    kept: [...kept, ...left],
  }
}

const unique = (names: readonly string[]): string[] => [...new Set(names)]
