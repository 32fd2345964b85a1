/** What the command line needs of the process it runs in. */
export type CliHost = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env' | 'cwd' | 'on' | 'off' | 'exit'>

/** Whether a person watches and types: both ends are a terminal. */
export const isInteractive = ({ stdin, stdout }: CliHost): boolean => stdin.isTTY && stdout.isTTY && stdout.columns > 0

/** Exit codes: the job was done, not done, misunderstood, or stopped by Ctrl-C. */
export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const
