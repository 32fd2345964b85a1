import type { CliHost } from './cliHost.ts'
import type { CommandShape, Invocation } from './commandLine.ts'
import type { OptionName } from './options.ts'

export type CommandGroup = 'work' | 'sessions' | 'logs' | 'network'

/** Executes a command and returns the exit code. May throw a `RuntimeError`. */
export type CommandRun = (invocation: Invocation, host: CliHost) => Promise<number>

/** A command of the command line. */
export interface Command extends CommandShape {
  readonly usage: string
  /** Its heading in the help. */
  readonly group: CommandGroup
  /** A line of the help. */
  readonly summary: string
  /** Further lines for `help <command>`. */
  readonly details?: readonly string[]
  /** Meanings of its options that are others than elsewhere. */
  readonly meanings?: Partial<Readonly<Record<OptionName, string>>>
  /** Its code, loaded on demand: the help for all commands needs none of it. */
  load(): Promise<CommandRun>
}
