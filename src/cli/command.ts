import type { CliHost } from './cliHost.ts'
import type { CommandShape, Invocation } from './commandLine.ts'

export type CommandGroup = 'work' | 'sessions' | 'logs' | 'network'

/** Does what a command line asks for, and gives the exit code. May throw a `RuntimeError`. */
export type CommandRun = (invocation: Invocation, host: CliHost) => Promise<number>

/** A command of the command line. */
export interface Command extends CommandShape {
  readonly usage: string
  /** Under which heading the help has it. */
  readonly group: CommandGroup
  /** A line of the help. */
  readonly summary: string
  /** More lines for its own help: what it prints, what to know. */
  readonly details?: readonly string[]
  /** Its code, loaded on demand: the help for all commands needs none of it. */
  load(): Promise<CommandRun>
}
