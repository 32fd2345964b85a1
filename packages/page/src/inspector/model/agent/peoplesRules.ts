import {
  permissionState,
  type PermissionState,
} from '../../../../../../src/protocol/parts/permissions/permissionState.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'

type Step = (state: PermissionState, record: LogRecord) => PermissionState

const steps = permissionState.on as unknown as { readonly [type: string]: Step | undefined }

/** Returns the rules and the mode that people added, according to a log up to a record. Pure. */
export function peoplesRules(
  records: readonly LogRecord[],
  end: number,
  past: readonly (readonly LogRecord[])[] = [],
): PermissionState {
  const taken = [...past, records.slice(0, end)]
  return taken.flat().reduce((state, record) => steps[record.type]?.(state, record) ?? state, permissionState.initial)
}
