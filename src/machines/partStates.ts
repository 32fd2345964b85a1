import type { RecordDraft } from '../protocol/records.ts'
import { innerState } from '../protocol/parts/inner/innerState.ts'
import type { PartRecordType } from '../protocol/parts/partRecords.ts'
import { permissionState } from '../protocol/parts/permissions/permissionState.ts'
import { remoteState } from '../protocol/parts/remote/remoteState.ts'
import { scheduleState } from '../protocol/parts/schedules/scheduleState.ts'

type DraftOf<T extends RecordDraft['type']> = Extract<RecordDraft, { readonly type: T }>

/** Circumstances of a record. `now`: its time, or for the first record of a fork the time of the record before it. */
export interface PartStepContext {
  readonly now: number
}

/**
 * State of a part as a fold over records: plain JSON, never changed in place. The state begins with the first record of the part's own;
 * before that it is missing, and steps for other records are not taken. A step that returns `undefined` ends the state.
 */
export interface PartState<State> {
  readonly initial: State
  /** Returns true for a record of another kind that also begins the state. */
  readonly begins?: (record: RecordDraft) => boolean
  readonly on: {
    readonly [T in RecordDraft['type']]?: (
      state: State,
      record: DraftOf<T>,
      context: PartStepContext,
    ) => State | undefined
  }
}

// oxlint-disable-next-line no-explicit-any -- the table has folds of different states, which `PartStates` tells apart again.
type AnyPartState = PartState<any>

/** Folds for the states of parts, by the name of the part. */
export const partStates = {
  inner: innerState,
  permissions: permissionState,
  remote: remoteState,
  schedules: scheduleState,
} as const satisfies {
  readonly [part: string]: AnyPartState
}

type StateOf<P> = P extends PartState<infer State> ? State : never

/** States of an agent's parts, for the parts that have records. */
export type PartStates = { readonly [P in keyof typeof partStates]?: StateOf<(typeof partStates)[P]> }

export const noPartStates: PartStates = Object.freeze({})

type Step = (state: unknown, record: RecordDraft, context: PartStepContext) => unknown

interface Taking {
  readonly part: string
  readonly initial: unknown
  /** True for a record of a part, which begins the part's state. */
  readonly isOwn: boolean
  readonly begins: PartState<unknown>['begins']
  readonly step: Step
}

/** Returns a table of the steps by record type. */
function stepsOf(
  states: { readonly [part: string]: AnyPartState },
  isOfPart: (type: string) => boolean,
): ReadonlyMap<string, readonly Taking[]> {
  const table = new Map<string, Taking[]>()
  for (const [part, { initial, begins, on }] of Object.entries(states))
    for (const [type, step] of Object.entries(on)) {
      const taking = { part, initial, isOwn: isOfPart(type), begins, step: step as Step }
      const known = table.get(type)
      if (known === undefined) table.set(type, [taking])
      else known.push(taking)
    }
  return table
}

/** Returns a function that folds a record into the states of parts. `isOfPart`: tells records of parts from others. */
export function partFolding(
  states: { readonly [part: string]: AnyPartState },
  isOfPart: (type: string) => boolean,
): <States>(before: States, record: RecordDraft, context: PartStepContext) => States {
  const table = stepsOf(states, isOfPart)
  return (before, record, context) => {
    const taking = table.get(record.type)
    if (taking === undefined) return before
    let next = before as Record<string, unknown>
    for (const { part, initial, isOwn, begins, step } of taking) {
      const known = next[part]
      if (known === undefined && !isOwn && begins?.(record) !== true) continue
      const state = step(known ?? initial, record, context)
      if (state === known) continue
      // Most records of most agents change nothing, and need no copy.
      if (next === before) next = { ...next }
      if (state === undefined) delete next[part]
      else next[part] = state
    }
    return next as typeof before
  }
}

/** A record of a part before the machine places it: without header, run and turn. */
type Body<R> = R extends unknown ? Omit<R, 'v' | 'seq' | 'runId' | 'turnIndex'> : never
export type PartDraft = Body<Extract<RecordDraft, { readonly type: PartRecordType }>>
