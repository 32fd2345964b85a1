import { sameJson } from '../../../protocol/checks/sameJson.ts'
import { RuntimeError, type ErrorCode } from '../../../protocol/errors.ts'
import { applyPatch, difference, frozenState, type StateOp } from '../../../protocol/parts/state/patch.ts'
import { drafted } from '../../../protocol/parts/state/drafted.ts'
import { checkPatch, NoState } from '../../../protocol/parts/state/plainState.ts'
import type { Redactor } from '../../../protocol/ports/redactor.ts'
import { readState, type StateSettings } from './stateOptions.ts'

/** A change that may be recorded. */
export interface PlannedChange {
  readonly patch: readonly StateOp[]
  /** The state after the change. */
  readonly value: unknown
}

export const invalidState = (what: string, options?: ErrorOptions): RuntimeError =>
  new RuntimeError('STATE_INVALID', what, options)

/**
 * Returns the change from the state to `next`, as it may be recorded; `undefined` if nothing changes. Pure.
 * @throws RuntimeError `STATE_INVALID` for a value that does not fit the schema, with or without its secrets, or is too large
 */
export function planChange(
  { schema }: Pick<StateSettings, 'schema'>,
  now: unknown,
  next: unknown,
  redactor?: Redactor,
): PlannedChange | undefined {
  const read = readState(schema, next)
  if (read.wrong !== undefined) throw invalidState(`The new state does not fit: ${read.wrong}.`)
  const whole = difference(now, read.value)
  if (whole.length === 0) return undefined
  // As its record will be.
  const patch = redactor?.value({ patch: whole }).patch ?? whole
  try {
    checkPatch(patch)
  } catch (thrown) {
    if (thrown instanceof NoState) throw invalidState(`The change is too large: ${thrown.message}.`, { cause: thrown })
    throw thrown
  }
  const { value, wrong } = applyPatch(now, patch)
  if (wrong !== undefined) throw invalidState(`Without its secrets, the change does not fit: ${wrong}.`)
  if (patch === whole || sameJson(value, read.value)) return { patch, value }
  const clean = readState(schema, value)
  if (clean.wrong !== undefined) throw invalidState(`Without its secrets, the new state does not fit: ${clean.wrong}.`)
  return { patch, value }
}

/**
 * Returns the change that a patch from outside makes. Pure.
 * @throws RuntimeError `STATE_INVALID`
 */
export function planPatch(
  settings: Pick<StateSettings, 'schema'>,
  now: unknown,
  patch: readonly StateOp[],
  redactor?: Redactor,
): PlannedChange | undefined {
  const { value, wrong } = applyPatch(now, patch)
  if (wrong !== undefined) throw invalidState(`The patch does not fit the state: ${wrong}.`)
  return planChange(settings, now, value, redactor)
}

/** Returns the state of a log converted to the definition's schema; `undefined`: it may stay as it is. @throws RuntimeError `STATE_INVALID` */
export function migrated({ schema, migrate }: StateSettings, value: unknown): { readonly value: unknown } | undefined {
  const read = readState(schema, value)
  if (read.wrong === undefined) return sameJson(read.value, value) ? undefined : { value: frozenState(read.value) }
  if (migrate === null) throw invalidState(`The state in the log does not fit the schema: ${read.wrong}.`)
  let made: unknown
  try {
    made = drafted(value, migrate)
  } catch (thrown) {
    throw invalidState(`state.migrate failed: ${thrown instanceof Error ? thrown.message : String(thrown)}.`, {
      cause: thrown,
    })
  }
  const again = readState(schema, made)
  if (again.wrong !== undefined)
    throw invalidState(`What state.migrate returned does not fit the schema: ${again.wrong}.`)
  return { value: frozenState(again.value) }
}

/** Returns the error for a request for the state of an agent that has none. */
export const noState = (who: string): RuntimeError =>
  new RuntimeError('STATE_OFF' satisfies ErrorCode, `${who} has no state.`)
