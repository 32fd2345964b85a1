/** What the process tells its caller: the job done, not done, misunderstood, or stopped by Ctrl-C. */
export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const
