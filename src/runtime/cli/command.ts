import type { CliHost } from './cliHost.ts'
import type { CommandShape, Invocation } from './commandLine.ts'

export type CommandGroup = 'work' | 'sessions' | 'logs' | 'network'

/** A command of the command line; `run` gives the exit code and may throw a `RuntimeError`. */
export interface Command extends CommandShape {
  readonly usage: string
  /** Under which heading the help has it. */
  readonly group: CommandGroup
  /** A line of the help. */
  readonly summary: string
  /** More lines for its own help: what it prints, what to know. */
  readonly details?: readonly string[]
  run(invocation: Invocation, host: CliHost): Promise<number>
}
