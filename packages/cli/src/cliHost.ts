import type { Theme } from './terminal/theme.ts'

/** The parts of the process that the command line uses, and its appearance there. */
export type CliHost = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env' | 'cwd' | 'on' | 'off' | 'exit'> & {
  /** Theme from `--theme`. Default: determined by the terminal and the environment. */
  readonly theme?: Theme
  /** True for `--no-bell`. */
  readonly isSilent?: boolean
}

/** Returns true if both input and output are a terminal. */
export const isInteractive = ({ stdin, stdout }: CliHost): boolean => stdin.isTTY && stdout.isTTY && stdout.columns > 0

/** Exit codes: success, failure, bad usage, stopped by Ctrl-C. */
export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const
