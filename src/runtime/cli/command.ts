import type { CliHost } from './cliHost.ts'
import type { CommandShape, Invocation } from './commandLine.ts'

/** A command of the command line; `run` gives the exit code and may throw a `RuntimeError`. */
export interface Command extends CommandShape {
  readonly usage: string
  readonly summary: string
  run(invocation: Invocation, host: CliHost): Promise<number>
}
