import type { PauseReason } from '../records.ts'

/** Returns true for a pause in which the run goes on by itself, once people decide or a time has come: nobody resumes it. */
export const isWait = ({ type }: Pick<PauseReason, 'type'>): boolean => type === 'approvals' || type === 'timer'
