/** Treatment of a sub-agent after a crash: an exception, a dead process or a stall. */
export interface RestartPolicy {
  /** `permanent` also restarts a child that ended on its own, unless a call started it. */
  readonly restart: 'never' | 'transient' | 'permanent'
  /** After more crashes than this within `windowMs` it is given up. */
  readonly maxRestarts: number
  readonly windowMs: number
  /** The first wait; each further one in the window doubles. */
  readonly backoffMs: number
}

/** Returns true if one more restart is allowed: those of the window are not used up. Pure. */
export const mayRestart = (policy: RestartPolicy | null, crashes: readonly number[], at: number): boolean =>
  policy !== null &&
  policy.restart !== 'never' &&
  crashes.filter((crash) => crash > at - policy.windowMs).length < policy.maxRestarts

/** Returns when the next restart may happen. Pure. */
export const restartAt = (policy: RestartPolicy | null, crashes: readonly number[], at: number): number =>
  at + (policy?.backoffMs ?? 0) * 2 ** crashes.filter((crash) => crash > at - (policy?.windowMs ?? 0)).length
