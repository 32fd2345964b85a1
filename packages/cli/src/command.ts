import type { CliHost } from './cliHost.ts'
import type { CommandShape, Invocation } from './commandLine.ts'
import type { OptionName } from './options.ts'

export type CommandGroup = 'work' | 'sessions' | 'logs' | 'network'

/** Executes a command and returns the exit code. May throw a `RuntimeError`. */
export type CommandRun = (invocation: Invocation, host: CliHost) => Promise<number>

/** A command of the command line. */
export interface Command extends CommandShape {
  readonly usage: string
  /** Heading in the help. */
  readonly group: CommandGroup
  /** Summary for the help. */
  readonly summary: string
  /** Further lines for `help <command>`. */
  readonly details?: readonly string[]
  /** Meanings of its options that differ from their usual ones. */
  readonly meanings?: Partial<Readonly<Record<OptionName, string>>>
  /** Loads its code. Help for all commands does not need it. */
  load(): Promise<CommandRun>
}
