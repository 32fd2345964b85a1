import type { PauseReason } from '../records.ts'

/** Returns true for a pause after which the run continues by itself, once people decide or a time has come. It needs no `resume`. */
export const isWait = ({ type }: Pick<PauseReason, 'type'>): boolean => type === 'approvals' || type === 'timer'
