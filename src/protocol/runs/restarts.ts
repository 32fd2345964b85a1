/** Policy for restarting a sub-agent after a crash: an exception, a dead process or a stall. */
export interface RestartPolicy {
  /** Condition for restarts. `permanent` also restarts a child that ended on its own, unless a call started it. */
  readonly restart: 'never' | 'transient' | 'permanent'
  /** Maximum number of restarts within `windowMs`. After one more crash the child is given up. */
  readonly maxRestarts: number
  readonly windowMs: number
  /** The first wait, in milliseconds. It doubles with each further crash within the window. */
  readonly backoffMs: number
}

/** Returns true if the policy allows one more restart within its window. Pure. */
export const mayRestart = (policy: RestartPolicy | null, crashes: readonly number[], at: number): boolean =>
  policy !== null &&
  policy.restart !== 'never' &&
  crashes.filter((crash) => crash > at - policy.windowMs).length < policy.maxRestarts

/** Returns the time at which the next restart may happen. Pure. */
export const restartAt = (policy: RestartPolicy | null, crashes: readonly number[], at: number): number =>
  at + (policy?.backoffMs ?? 0) * 2 ** crashes.filter((crash) => crash > at - (policy?.windowMs ?? 0)).length
